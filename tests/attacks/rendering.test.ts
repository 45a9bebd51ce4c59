import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { sha256 } from "#lib/core/digest";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { wholeRange } from "#lib/masking/for-others";
import { shareTrace } from "#lib/shares/shares";
import { storeSession } from "../support/long-session.ts";
import { bestOfThree, type Pulse, takePulse } from "../support/pulse.ts";
import { ingest, owner, post, provideOwnedServer } from "../support/server.ts";
import { denseTrace } from "./dense.ts";

const { server, userId, token } = await provideOwnedServer();
await ingest(server, token, [denseTrace("one")]);
const { rows } = await pool().query<{ id: string }>("select id from trace");
const traceId = rows[0]?.id ?? "";
const agent = new Agent({ keepAlive: true });

const readers = 24;
const attackMs = 2500;

type Answer = { status: number; bytes: number; headers: Record<string, string | string[] | undefined>; body: string };

/** Reads a page as a browser does. */
const read = (path: string, headers: Record<string, string>, signal?: AbortSignal): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const all = { Accept: "text/html", ...headers };
    get(server.url + path, { agent, headers: all, ...(signal && { signal }) }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.once("end", () => {
        const body = Buffer.concat(parts);
        resolve({
          status: response.statusCode ?? 0,
          bytes: body.length,
          headers: response.headers,
          body: body.toString(),
        });
      });
      response.once("error", reject);
    }).once("error", reject);
  });

type Page = (reader: number, round: number) => [path: string, headers: Record<string, string>];

/** Lets all readers read in loops. @returns their answers, how health fared, and how it had fared before */
async function attack(page: Page) {
  const answers: Answer[] = [];
  const end = new AbortController();
  const loop = async (_: unknown, reader: number) => {
    for (let round = 0; !end.signal.aborted; round += 1) {
      const [path, headers] = page(reader, round);
      const answer = await read(path, { "Accept-Encoding": "gzip", ...headers }, end.signal).catch((error) => {
        if (!end.signal.aborted) throw error;
      });
      if (answer) answers.push({ ...answer, body: "" });
    }
  };
  // A server in use has read its modules and grammars.
  for (let reader = 0; reader < 2; reader += 1) await read(...page(reader, 0));
  const idle = await takePulse(server, () => sleep(500));
  const all = Promise.all(Array.from({ length: readers }, loop));
  const pulse = await takePulse(server, () => sleep(attackMs));
  end.abort();
  await all;
  return { answers, pulse, idle };
}

const told = ({ answers, pulse: { asked, p50, p99, max }, idle }: Awaited<ReturnType<typeof attack>>) =>
  `health p99 ${p99} ms (p50 ${p50}, max ${max}, asked ${asked} times; idle p99 ${idle.p99}) beside ${answers.length} pages of ${Math.round(
    answers.reduce((sum, { bytes }) => sum + bytes, 0) / answers.length / 1024,
  )} KiB`;

/** The guarantee on an idle machine is 100 ms; one that is busy with other things is not the attack's fault. */
const maxP99 = (idle: Pulse) => 100 + 5 * idle.p99;

const addressed = (address: string) => ({ "X-Forwarded-For": address });

const share = async () =>
  new URL(await shareTrace(userId, traceId, { ...wholeRange, masked: false, days: null }, operator)).pathname;

test("24 readers of shared sessions of dense messages leave the others' answers quick", {
  ...bestOfThree,
  timeout: 30_000,
}, async ({ annotate }) => {
  // A link and a network for each, so that no limit but the rendering's own holds them back; and a place of their own.
  const links = await Promise.all(Array.from({ length: readers }, share));
  const result = await attack((reader, round) => [
    `${links[reader]}?after=${(reader * 7 + round * 13) % 90}`,
    addressed(`203.0.113.${reader}`),
  ]);
  await annotate(told(result));
  expect(result.answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(result.pulse).toMatchObject({ failed: 0 });
  expect(result.pulse.p99).toBeLessThan(maxP99(result.idle));
});

/** Signs the owner in. @returns the cookies */
async function signIn(): Promise<string> {
  const { email, password } = owner;
  const response = await post(server, "/api/auth/sign-in/email", { email, password }, { Origin: server.url });
  return response.headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ");
}

test("24 signed-in readers leave the others' answers quick", { ...bestOfThree, timeout: 30_000 }, async ({
  annotate,
}) => {
  const cookie = await signIn();
  const result = await attack((reader, round) => [
    `/traces/${traceId}?after=${(reader * 7 + round * 13) % 90}`,
    { cookie },
  ]);
  await annotate(told(result));
  expect(result.answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(result.pulse).toMatchObject({ failed: 0 });
  expect(result.pulse.p99).toBeLessThan(maxP99(result.idle));
});

test("24 readers of the API's page, which needs no sign-in, leave the others' answers quick", {
  ...bestOfThree,
  timeout: 30_000,
}, async ({ annotate }) => {
  const result = await attack((reader) => ["/docs", addressed(`203.0.113.${reader}`)]);
  await annotate(told(result));
  expect(result.answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(result.pulse).toMatchObject({ failed: 0 });
  expect(result.pulse.p99).toBeLessThan(maxP99(result.idle));
});

test("a network that asks for too many shared pages waits, and no other does", async ({ annotate }) => {
  const link = await share();
  const ask = (address: string, more = {}) => read(link, { ...addressed(address), ...more });
  const { sharedPagesPerMinutePerNetwork: most } = limits.traces;
  await pool().query(
    "insert into rate_limit (key, points, expire) values ($1, $2, (extract(epoch from now()) * 1000)::bigint + 60000)",
    ["shared-network:198.51.100.1", most - 2],
  );
  const statuses = [];
  for (let n = 0; n < 4; n += 1) statuses.push((await ask("198.51.100.1")).status);
  expect(statuses).toEqual([200, 200, 429, 429]);
  const page = await ask("198.51.100.1");
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(Number(page.headers["retry-after"])).toBeGreaterThan(0);
  expect(page.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  expect(page.body).toContain("Please wait a moment");
  const problem = await ask("198.51.100.1", { Accept: "*/*" });
  expect(JSON.parse(problem.body)).toMatchObject({ ok: false, status: 429, error: "rate_limited" });
  expect((await ask("198.51.100.2")).status).toBe(200);
  await annotate(`the network's page ${most + 1} within a minute is refused`);
});

test("a link that is read too often makes its readers wait, whatever their networks, and no other link's", async ({
  annotate,
}) => {
  const [link, other] = [await share(), await share()];
  const { sharedPagesPerMinutePerLink: most } = limits.traces;
  const key = sha256(link.split("/").at(-1) ?? "").toString("base64url");
  await pool().query(
    "insert into rate_limit (key, points, expire) values ($1, $2, (extract(epoch from now()) * 1000)::bigint + 60000)",
    [`shared-link:${key}`, most - 2],
  );
  const statuses = [];
  for (let n = 0; n < 4; n += 1) statuses.push((await read(link, addressed(`198.51.100.${10 + n}`))).status);
  expect(statuses).toEqual([200, 200, 429, 429]);
  const [, last = ""] = /(.)$/.exec(link) ?? [];
  const spelled = `${link.slice(0, -1)}%${last.charCodeAt(0).toString(16)}`;
  expect((await read(spelled, addressed("198.51.100.20"))).status).toBe(429);
  expect((await read(other, addressed("198.51.100.10"))).status).toBe(200);
  await annotate(`the link's page ${most + 1} within a minute is refused`);
});

test("a shared page, and an own one, of a message of thirty million lines end nothing", async ({ annotate }) => {
  const content =
    "'<tool-use data-tool-type=\"write\" data-tool-name=\"Edit\">' || e'\\nEdit\\n```diff\\n+x' || repeat(e'\\n', 30000000) || e'+y\\n```\\n</tool-use>'";
  const id = await storeSession(userId, { messages: 1, sourceId: "lines", content });
  const link = new URL(await shareTrace(userId, id, { ...wholeRange, masked: false, days: null }, operator)).pathname;
  const cookie = await signIn();
  const pulse = await takePulse(server, async () => {
    const page = await read(link, addressed("198.51.100.20"));
    expect(page.status).toBe(200);
    expect(page.body).toContain("more lines</summary>");
    expect((await read(`/traces/${id}`, { cookie })).status).toBe(200);
  });
  await annotate(`health took at most ${pulse.max} ms`);
  expect(pulse.failed).toBe(0);
}, 30_000);
