// A function host: fresh processes without a worker, on a file system that they can't write, each killed after ten requests.
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { asResponse, bearer, expectProblem, makeSender, openRequest } from "../api/client.ts";
import { seconds, until } from "../faults/wait.ts";
import { freshDatabase, testEnvironment } from "../support/database.ts";
import { get, jobEnd, logIn, makeUser, setupToken } from "../support/server.ts";
import { Host, Output } from "./host.ts";

type Session = { source: string; sourceId: string; messages: { position: number; content: string; role?: string }[] };

/** Other people's sessions stay outside of the project. */
const real = "../shared/data/real-sessions.json.gz";
const requestsPerProcess = 10;

function madeUp(): Session[] {
  return Array.from({ length: 40 }, (_, n) => ({
    source: "made-up",
    sourceId: `session-${n}`,
    messages: Array.from({ length: 20 + 10 * n }, (_, position) => ({
      position,
      role: position % 2 === 0 ? "user" : "assistant",
      content: `${n}.${position} ${Math.sin(n * 1000 + position)} `.repeat(1 + (position % 40)),
    })),
  }));
}

const sessions: Session[] = existsSync(real) ? JSON.parse(gunzipSync(readFileSync(real)).toString()).traces : madeUp();

let output: Output;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let host: Host;
let token: string;

beforeAll(async () => {
  output = new Output();
  database = await freshDatabase();
  host = new Host(output, {
    ...testEnvironment,
    VERCEL: "1",
    VERCEL_ENV: "production",
    VERCEL_PROJECT_PRODUCTION_URL: "spoor.example",
    DATABASE_URL: database.url,
    SETUP_TOKEN: setupToken,
    CRON_SECRET: setupToken,
    LOG_LEVEL: "warn",
  });
  await host.start();
  setEnv({ SETUP_TOKEN: setupToken });
  const userId = await makeUser();
  // Real sessions have texts that would be masked; here they are compared with what was sent.
  await pool().query("insert into secret_policy (user_id, masks) values ($1, false)", [userId]);
  token = await logIn(host.server, userId);
});
afterAll(async () => {
  await host?.stop();
  await database?.drop();
  output?.remove();
});

const send = (body: Uint8Array<ArrayBuffer> | string, headers: Record<string, string> = {}) =>
  makeSender(host.server, token)(body, headers);
const cron = () => fetch(`${host.url}/api/cron`, { headers: bearer(setupToken) });

test("sessions arrive whole, each within two seconds where nothing is killed meanwhile", {
  timeout: 180_000,
}, async () => {
  const waits: number[] = [];
  for (const [n, session] of sessions.entries()) {
    const body = new Uint8Array(gzipSync(JSON.stringify({ traces: [session] })));
    const response = await send(body, { "Content-Encoding": "gzip", "Idempotency-Key": `session-${n}` });
    expect(response.status).toBe(202);
    const { jobId } = (await response.json()) as { jobId: string };
    if (n % requestsPerProcess === 4) {
      const startedAt = performance.now();
      expect(await jobEnd(host.server, jobId, token, 10)).toMatchObject({ status: "succeeded" });
      waits.push(performance.now() - startedAt);
    }
    if (n % requestsPerProcess === requestsPerProcess - 1) {
      await host.stop("SIGKILL"); // with the last uploads in work
      await host.start();
    }
  }
  const open = "select 1 from ingest_job where status <> 'succeeded'";
  await until(60, "what killed processes left is done", async () => {
    await cron();
    return (await pool().query(open)).rowCount === 0;
  });
  const text = await (await get(host.server, "/api/traces/export", token)).text();
  const stored = new Map(
    text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .map((one) => [one.sourceId, one]),
  );
  expect(stored.size).toBe(sessions.length);
  for (const { sourceId, messages } of sessions) {
    const contents = [...messages]
      .sort((a, b) => a.position - b.position)
      .map(({ content }) => content.replaceAll("\0", "\ufffd"));
    expect(stored.get(sourceId).messages.map(({ content }: { content: string }) => content)).toEqual(contents);
  }
  waits.sort((a, b) => a - b);
  process.stdout.write(
    `function host: ${sessions.length} sessions, ${host.starts} processes, readable after ${waits.map(Math.round).join(", ")} ms\n`,
  );
  expect(waits[Math.floor(waits.length / 2)]).toBeLessThan(2000);
  expect(host.log).not.toMatch(/EROFS|EACCES|read-only/i);
});

/** Sends a session until it is taken. @returns its job, and how often it was told to come back */
async function sendUntilTaken(sourceId: string): Promise<{ jobId: string; refusals: number }> {
  const body = JSON.stringify({
    traces: [{ source: "at-once", sourceId, messages: [{ position: 0, content: sourceId }] }],
  });
  for (let refusals = 0; ; refusals += 1) {
    const response = await send(body);
    if (response.status === 202) return { jobId: ((await response.json()) as { jobId: string }).jobId, refusals };
    expect(response.status).toBe(503);
    expect(["overloaded", "unavailable"]).toContain((await response.json()).error);
    await sleep((0.5 + Math.random()) * 1000 * Number(response.headers.get("retry-after")));
  }
}

/** The database's connections: the host's, and a few of this test. */
async function countConnections(): Promise<number> {
  const { rowCount } = await pool().query("select 1 from pg_stat_activity where datname = current_database()");
  return rowCount ?? 0;
}

test("a thousand uploads at once are taken, or told to come back, and all are readable in the end", {
  timeout: 300_000,
}, async () => {
  let most = 0;
  const counting = setInterval(async () => {
    // A busy machine may not answer in time.
    most = Math.max(most, await countConnections().catch(() => 0));
  }, 200);
  const startedAt = performance.now();
  const uploads = Array.from({ length: 1000 }, (_, n) => sendUntilTaken(`at-once-${n}`));
  const sent = await Promise.all(uploads).finally(() => clearInterval(counting));
  const takenMs = performance.now() - startedAt;
  expect(new Set(sent.map(({ jobId }) => jobId)).size).toBe(1000);
  const open = "select 1 from ingest_job where status <> 'succeeded' limit 1";
  await until(200, "all are processed", async () => {
    await cron();
    return (await pool().query(open)).rowCount === 0;
  });
  const readableMs = performance.now() - startedAt;
  const { rows } = await pool().query(
    `select count(*)::int as sessions, count(distinct source_id)::int as ids, sum(message_count)::int as messages
     from trace where source = 'at-once'`,
  );
  expect(rows).toEqual([{ sessions: 1000, ids: 1000, messages: 1000 }]);
  const refusals = sent.reduce((sum, one) => sum + one.refusals, 0);
  process.stdout.write(
    `function host: 1,000 uploads at once taken in ${seconds(takenMs)} with ${refusals} times 503, readable after ` +
      `${seconds(readableMs)}, ${most} connections\n`,
  );
  expect(most).toBeLessThanOrEqual(15);
});

test("an upload of 3.9 MB is readable soon after it was taken", async () => {
  const part = (position: number) => ({ position, role: "user", content: `${position} `.repeat(2500).slice(0, 3850) });
  const body = JSON.stringify({
    traces: [{ sourceId: "long", messages: Array.from({ length: 1000 }, (_, n) => part(n)) }],
  });
  expect(body.length).toBeGreaterThan(3.8e6);
  const response = await send(body);
  expect(response.status).toBe(202);
  const { jobId } = (await response.json()) as { jobId: string };
  const startedAt = performance.now();
  expect(await jobEnd(host.server, jobId, token, 20)).toMatchObject({
    status: "succeeded",
    messages: { written: 1000 },
  });
  process.stdout.write(`function host: 3.9 MB readable after ${Math.round(performance.now() - startedAt)} ms\n`);
});

test("a body of 4 MB is taken, one of 4.5 MB is refused with the figure that /api/limits tells", async () => {
  const { ingest } = await (await get(host.server, "/api/limits")).json();
  expect(ingest.wireBytes).toBe(4_000_000);
  const batch = (size: number) => {
    const text = (content: string) =>
      JSON.stringify({ traces: [{ sourceId: "large", messages: [{ position: 0, content }] }] });
    return text("x".repeat(size - text("").length));
  };
  const taken = await send(batch(4_000_000));
  expect(taken.status).toBe(202);
  const { jobId } = (await taken.json()) as { jobId: string };
  expect(await jobEnd(host.server, jobId, token, 10)).toMatchObject({ status: "succeeded" });
  const { detail } = await expectProblem(await send(batch(4_500_000)), 413, "payload_too_large");
  expect(detail).toContain("4000000");
});

test.each(["/api//limits", "/api/%zz", "/api/limits//"])("%s is a 404 like every other", async (path) => {
  const { request, answer } = openRequest(host.server, path, { method: "GET", headers: {} });
  request.end();
  await expectProblem(asResponse(await answer), 404, "not_found");
});

test("links lead to the platform's address, and pages work", async () => {
  const started = await fetch(`${host.url}/api/cli/device/start`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ machine: "m" }),
  });
  expect((await started.json()).verificationUri).toBe("https://spoor.example/device");
  const page = await fetch(`${host.url}/sign-in`);
  expect(page.status).toBe(200);
  expect(page.headers.get("strict-transport-security")).toContain("max-age");
  expect(await (await fetch(`${host.url}/spoor.mjs`)).text()).toContain("https://spoor.example");
});
