// Several processes on one database, each with connections of its own, and one on a database that is not migrated.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { env, requiredEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { freePort } from "#lib/db/embedded/ports";
import { program, supervise } from "#server/processes";
import { plainBrowser } from "../support/plain-browser.ts";
import { get, owner, post, provideOwnedServer, type Server, someAddress } from "../support/server.ts";
import { bearer, sessionCookie, unknownToken } from "./client.ts";

const { server, token } = await provideOwnedServer({ worker: false, environment: { AUTH_RATE_LIMIT: "on" } });
const { signIn } = limits;

/** Another process, whose connections have a name by which they are counted. It ends with its test, or with the file. */
async function start(
  role: "web" | "worker",
  name: string,
  { database = requiredEnv("DATABASE_URL"), atEnd = afterAll as (stop: () => Promise<void>) => void } = {},
): Promise<Server> {
  const url = new URL(database);
  url.searchParams.set("application_name", name);
  const port = await freePort();
  const environment = { DATABASE_URL: url.href, PORT: String(port), NODE_ENV: "production", CRON_SECRET: secret };
  const { stop } = await supervise([{ name, words: [program(role)] }], environment);
  atEnd(async () => void (await stop()));
  return { url: `http://localhost:${port}`, stop };
}

const secret = "an operator's secret for tests";
const second = await start("web", "test-web");
const both = [server, second] as const;
const inTurn = (n: number) => both[n % 2] as Server;

describe("limits count over all web processes", () => {
  test("wrong passwords of an account from one network", async () => {
    const from = { "X-Forwarded-For": someAddress(), Origin: server.url };
    const wrong = { email: owner.email, password: "wrong, and long enough" };
    const statuses = [];
    for (let n = 0; n < signIn.wrongPerHourPerNetworkAndAccount + 2; n += 1) {
      statuses.push((await post(inTurn(n), "/api/auth/sign-in/email", wrong, from)).status);
    }
    expect(statuses).toEqual([...Array(signIn.wrongPerHourPerNetworkAndAccount).fill(401), 429, 429]);
  });

  test("wrong passwords on the settings of a browser that is signed in", async () => {
    const browser = plainBrowser(server);
    await browser.post("/api/auth/sign-in/email", { email: owner.email, password: owner.password });
    const form = await browser.open("/settings", "Change password");
    const fields = { current_password: "wrong, and long enough", new_password: "a better password for tests" };
    const told: string[] = [];
    for (let n = 0; n < 11; n += 1) {
      const { text } = await browser.sendForm("/settings", form, fields);
      told.push(/This is not your password|Too many wrong attempts/.exec(text)?.[0] ?? text);
    }
    expect(told).toEqual([...Array(10).fill("This is not your password"), "Too many wrong attempts"]);
  });

  test("calls of the other routes of a sign-in", async () => {
    const from = { "X-Forwarded-For": someAddress() };
    const ask = (n: number) => fetch(`${inTurn(n).url}/api/auth/get-session`, { headers: from });
    const statuses: number[] = [];
    for (let n = 0; n < signIn.callsPerMinutePerNetwork; n += 1) statuses.push((await ask(n)).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const refused = [await ask(0), await ask(1)];
    expect(refused.map(({ status }) => status)).toEqual([429, 429]);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await fetch(`${server.url}/api/auth/get-session`)).status).toBe(200); // another network
  });
});

test("a web process has at most 10 connections and a worker 12, however much is asked of them", async () => {
  await start("worker", "test-worker", { atEnd: onTestFinished });
  const cookie = await sessionCookie(server);
  const most = { "test-web": 0, "test-worker": 0 };
  let isOver = false;
  const counting = (async () => {
    while (!isOver) {
      const { rows } = await pool().query<{ name: keyof typeof most; count: number }>(
        `select application_name as name, count(*)::int as count from pg_stat_activity
         where application_name like 'test-%' group by 1`,
      );
      for (const { name, count } of rows) most[name] = Math.max(most[name], count);
      await sleep(10);
    }
  })();
  const trace = (n: number) => ({ sourceId: `s-${n}`, messages: [{ position: 0, content: `some words ${n}` }] });
  const callers = Array.from({ length: 16 }, async (_, caller) => {
    for (let n = 0; n < 2; n += 1) {
      await (await post(second, "/api/ingest", { traces: [trace(caller * 10 + n)] }, bearer(token))).text();
      await (await get(second, "/api/traces?q=words", token)).text();
      await (await fetch(`${second.url}/traces`, { headers: { Cookie: cookie } })).text();
    }
  });
  await Promise.all(callers);
  isOver = true;
  await counting;
  expect(most["test-web"]).toBeGreaterThan(5);
  expect(most["test-web"]).toBeLessThanOrEqual(10);
  expect(most["test-worker"]).toBeGreaterThan(4);
  expect(most["test-worker"]).toBeLessThanOrEqual(12);
});

describe("before the database is migrated", async () => {
  const name = `empty_${randomUUID().replaceAll("-", "")}`;
  await pool().query(`create database ${name}`);
  const url = new URL(env().DATABASE_URL ?? "");
  url.pathname = name;
  const early = await start("web", "test-early", { database: url.href });
  afterAll(async () => {
    await early.stop();
    await pool().query(`drop database ${name} with (force)`);
  });
  const id = randomUUID();
  const trace = { traces: [{ sourceId: "s", messages: [] }] };
  const report = { schema: 1, deviceId: "d", cliVersion: "1.0.0", platform: "linux", arch: "x64", command: "scan" };
  const signIn = { email: owner.email, password: owner.password };

  test.each([
    ["POST", "/api/ingest", trace],
    ["GET", `/api/ingest/${id}`],
    ["GET", "/api/traces"],
    ["GET", `/api/traces/${id}`],
    ["DELETE", `/api/traces/${id}`],
    ["GET", "/api/traces/export"],
    ["GET", "/api/cli/session"],
    ["POST", "/api/cli/device/start", { machine: "m" }],
    ["GET", `/api/cli/device/poll?deviceCode=${"a".repeat(43)}`],
    ["POST", "/api/cli/telemetry", { ...report, diagnostics: [] }],
    ["POST", "/api/auth/sign-in/email", signIn],
    ["GET", "/api/auth/get-session"],
    ["GET", "/api/cron"],
  ])("%s %s is unavailable", async (method, path, body?: object) => {
    const headers = bearer(path === "/api/cron" ? secret : unknownToken());
    const init = body && { body: JSON.stringify(body), headers: { ...headers, "Content-Type": "application/json" } };
    const response = await fetch(early.url + path, { method, headers, ...init });
    expect([response.status, await response.json()]).toEqual([
      503,
      expect.objectContaining({ error: "unavailable", ok: false }),
    ]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("readiness says what to do, with a schema but no queue too; pages are a 503", async () => {
    const checks = async () => ((await (await get(early, "/api/ready")).json()) as { checks: object }).checks;
    expect(await checks()).toMatchObject({ database: { ok: true }, migrations: { ok: false } });
    const page = await fetch(`${early.url}/sign-in`);
    expect([200, 503]).toContain(page.status);
    expect((await fetch(`${early.url}/setup?token=x`)).status).toBe(503);
    expect((await get(early, "/api/health")).status).toBe(200);
  });
});

test("a database without the queue's tables is not ready, and takes no upload", async () => {
  await pool().query("alter schema pgboss rename to pgboss_away");
  try {
    const ready = await get(server, "/api/ready");
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { checks: { migrations: { ok: false, detail: expect.stringContaining("npm run migrate") } } },
    ]);
    const sent = await post(server, "/api/ingest", { traces: [{ sourceId: "q", messages: [] }] }, bearer(token));
    expect([sent.status, await sent.json()]).toMatchObject([503, { error: "unavailable" }]);
  } finally {
    await pool().query("alter schema pgboss_away rename to pgboss");
  }
  const sent = await post(server, "/api/ingest", { traces: [{ sourceId: "q", messages: [] }] }, bearer(token));
  expect(sent.status).toBe(202);
});
