import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Browser } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { launchBrowser, signIn } from "../../support/browser.ts";
import { get, type JobJson, jobEnd, makeUser, owner, post, type Server, startServer } from "../../support/server.ts";

/** 90 real sessions, 12,800 messages, 27.3 MB of JSON. They are other people's and stay outside of the project. */
const file = "../shared/data/real-sessions.json.gz";
const present = existsSync(file);
if (!present) process.stdout.write(`The real sessions are not beside the checkout (${file}): their test is skipped.\n`);

type Message = { position: number; content: string; role?: string; tokenCount?: number; createdAt?: string };
type Sent = { source: string; sourceId: string; model?: string; createdAt?: string; messages: Message[] };

let server: Server;
let browser: Browser;
const times: Record<string, number> = {};

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  times[name] = Math.round(performance.now() - startedAt);
  return result;
}

describe.skipIf(!present)("real sessions", () => {
  const body = present ? readFileSync(file) : Buffer.alloc(0);

  beforeAll(async () => {
    server = await startServer();
    await makeUser();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    process.stdout.write(`real sessions, in ms: ${JSON.stringify(times)}\n`);
  });

  async function logInWithBrowser(): Promise<string> {
    const started = await (await post(server, "/api/cli/device/start", { machine: "real-laptop" })).json();
    const page = await browser.newPage();
    await signIn(page, server, owner);
    await page.goto(started.verificationUriComplete);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("Return to your terminal").waitFor();
    await page.close();
    return (await (await get(server, `/api/cli/device/poll?deviceCode=${started.deviceCode}`)).json()).token;
  }

  async function send(token: string, name: string): Promise<JobJson> {
    const jobId = await timed(`${name}: accepted`, async () => {
      const response = await fetch(`${server.url}/api/ingest`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Content-Encoding": "gzip" },
        body,
      });
      expect(response.status).toBe(202);
      return (await response.json()).jobId as string;
    });
    return timed(`${name}: then queryable`, () => jobEnd(server, jobId, token, 120));
  }

  async function readAll(token: string, traceId: string): Promise<Message[]> {
    const messages: Message[] = [];
    let after: number | null = null;
    do {
      const query: string = after === null ? "" : `&after=${after}`;
      const page = await (await get(server, `/api/traces/${traceId}/messages?limit=1000${query}`, token)).json();
      messages.push(...page.messages);
      after = page.nextAfter;
    } while (after !== null);
    return messages;
  }

  test("every message is read back as it was sent, and sending them again writes nothing", async () => {
    const { traces: sent } = JSON.parse(gunzipSync(body).toString("utf8")) as { traces: Sent[] };
    const token = await logInWithBrowser();
    // Some of them have texts that would be masked.
    await pool().query(`insert into secret_policy (user_id, masks) select id, false from "user"`);

    expect(await send(token, "first")).toMatchObject({
      status: "succeeded",
      traces: { received: 90, created: 90, updated: 0, unchanged: 0, kept: 0, incomplete: 0 },
      messages: { received: 12_800, written: 12_800 },
    });

    const { traces } = await (await get(server, "/api/traces?limit=200", token)).json();
    expect(traces).toHaveLength(90);
    const ids = new Map(traces.map((trace: Sent & { id: string }) => [`${trace.source}\0${trace.sourceId}`, trace.id]));
    let compared = 0;
    await timed("read back", async () => {
      for (const trace of sent) {
        const read = await readAll(token, String(ids.get(`${trace.source}\0${trace.sourceId}`)));
        const wanted = trace.messages
          .toSorted((a, b) => a.position - b.position)
          .map(({ position, content, role, tokenCount, createdAt }) => ({
            position,
            role: role ?? null,
            content,
            tokenCount: tokenCount ?? null,
            createdAt: createdAt ? new Date(createdAt).toISOString() : null,
            metadata: null,
          }));
        expect(read).toEqual(wanted);
        compared += read.length;
      }
    });
    expect(compared).toBe(12_800);

    expect(await send(token, "again")).toMatchObject({
      status: "succeeded",
      traces: { received: 90, created: 0, updated: 0, unchanged: 90, kept: 0, incomplete: 0 },
      messages: { received: 12_800, written: 0 },
    });
  }, 180_000);

  test("a page of the list sends 100 KB", async () => {
    const page = await browser.newPage();
    await signIn(page, server, owner);
    const html = (await (await page.goto(`${server.url}/traces`))?.text()) ?? "";
    expect(await page.locator("[data-row]").count()).toBe(50);
    expect(Buffer.byteLength(html)).toBeLessThan(100 * 1024);
    await page.close();
  });
});
