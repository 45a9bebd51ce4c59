// `server.js` of the standalone output, as a function host other than Vercel runs it: Next's own server, whose requests we name.
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { sendHeartbeat } from "#lib/observability/heartbeat";
import { webDigest } from "#server/build/sources";
import { asResponse, bearer, expectProblem, openRequest } from "../api/client.ts";
import { until } from "../faults/wait.ts";
import { freshDatabase, testEnvironment } from "../support/database.ts";
import { get, jobEnd, logIn, makeUser, post, type Server, setupToken } from "../support/server.ts";
import { Host, Output } from "./host.ts";

let output: Output;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let host: Host;
let server: Server;
let token: string;
const environment = () => ({ ...testEnvironment, DATABASE_URL: database.url, BASE_URL: "http://localhost:3000" });

beforeAll(async () => {
  output = new Output();
  database = await freshDatabase();
  host = new Host(output, { ...environment(), SETUP_TOKEN: setupToken, CRON_SECRET: setupToken });
  await host.start();
  server = host.server;
  setEnv({ SETUP_TOKEN: setupToken });
  token = await logIn(server, await makeUser());
});
afterAll(async () => {
  await host?.stop();
  await database?.drop();
  output?.remove();
});

const send = async (sourceId: string): Promise<string> => {
  const traces = [{ sourceId, messages: [{ position: 0, role: "user", content: `about ${sourceId}` }] }];
  const response = await post(server, "/api/ingest", { traces }, bearer(token));
  expect(response.status).toBe(202);
  return ((await response.json()) as { jobId: string }).jobId;
};

async function ask(path: string, method = "GET", headers: Record<string, string> = {}): Promise<Response> {
  const { request, answer } = openRequest(server, path, { method, headers });
  request.end();
  return asResponse(await answer);
}

test("the build's id and the key of its forms' ids follow from the sources alone, so that hosts that build agree", async () => {
  const digest = webDigest();
  const { version } = JSON.parse(await readFile("package.json", "utf8"));
  expect(await readFile(".next/BUILD_ID", "utf8")).toBe(`${version}-${digest.slice(0, 16)}`);
  const manifest = JSON.parse(await readFile(".next/server/server-reference-manifest.json", "utf8"));
  expect(manifest.encryptionKey).toBe(Buffer.from(digest, "hex").toString("base64"));
});

describe("what Next itself would answer in a form of its own", () => {
  test.each(["/api//limits", "/api/%zz", "/api/limits//", "/api/%E0%A4%A", "/api/nothing"])(
    "%s is a 404 like every other",
    async (path) => {
      for (const method of ["GET", "POST", "DELETE"]) await expectProblem(await ask(path, method), 404, "not_found");
    },
  );

  test("a client chooses neither its request's id nor its address", async () => {
    const id = "01900000-0000-7000-8000-000000000000";
    const forged = { "X-Spoor-Request-Id": id, "X-Request-Id": id, "X-Spoor-Client-Address": "192.0.2.99" };
    const headers = { ...forged, "X-Forwarded-For": "192.0.2.7" };
    const response = await post(server, "/api/cli/device/start", { machine: "m" }, headers);
    expect(response.headers.get("x-request-id")).not.toBe(id);
    const { rows } = await pool().query("select ip_address as ip from device_login order by created_at desc limit 1");
    expect(rows).toEqual([{ ip: "192.0.2.7" }]);
  });
});

describe("without a worker", () => {
  test("an accepted upload is readable within two seconds, and then found", async () => {
    const job = await jobEnd(server, await send("marmalade"), token, 2);
    expect(job).toMatchObject({ status: "succeeded", attempts: 1 });
    await until(10, "it is found", async () => {
      const { traces } = await (await get(server, "/api/traces?q=marmalade", token)).json();
      return traces.length === 1;
    });
  });

  test("a hundred at once are processed once each, by one run at a time, with ten connections at most", async () => {
    const jobs = await Promise.all(Array.from({ length: 100 }, (_, n) => send(`burst-${n}`)));
    const turns = await pool().query("select 1 from process_heartbeat where role = 'turn'");
    expect(turns.rowCount).toBeLessThanOrEqual(1);
    const open = await pool().query(
      "select 1 from pg_stat_activity where datname = current_database() and application_name = 'spoor' and pid <> pg_backend_pid()",
    );
    expect(open.rowCount).toBeLessThanOrEqual(20); // this test's own pool among them
    for (const jobId of jobs) {
      expect(await jobEnd(server, jobId, token, 50)).toMatchObject({ status: "succeeded", attempts: 1 });
    }
    await until(5, "the turn is given back", async () => {
      return (await pool().query("select 1 from process_heartbeat where role = 'turn'")).rowCount === 0;
    });
  });
});

test("with a worker uploads are left to it, and the cron is the net where it is gone", async () => {
  const worker = "00000000-0000-4000-8000-0000000000aa";
  await sendHeartbeat(worker);
  const isQueued = async (jobId: string) =>
    (await (await get(server, `/api/ingest/${jobId}`, token)).json()).status === "queued";
  // A run that gave its turn back looks once more for uploads, and may find one.
  let jobId = "";
  await until(10, "the last run has ended", async () => {
    jobId = await send("for the worker");
    await sleep(200);
    return isQueued(jobId);
  });
  await sleep(1000);
  expect(await isQueued(jobId)).toBe(true);
  await post(server, "/api/cron", {}, bearer(setupToken));
  expect(await jobEnd(server, jobId, token, 5)).toMatchObject({ status: "succeeded" });
  await pool().query("delete from process_heartbeat where id = $1", [worker]);
});

test("a wrong variable ends it with a line that names it", async () => {
  const { AUTH_SECRET: _, ...rest } = environment();
  for (const [variables, message] of [
    [rest, "AUTH_SECRET: must be set"],
    [{ ...environment(), PORT: "0", LOG_LEVEL: "loud" }, "LOG_LEVEL: "],
    [{ ...environment(), VERCEL: "1" }, "SETUP_TOKEN: must be set on Vercel"],
  ] as const) {
    const wrong = new Host(output, variables);
    expect(await wrong.end()).toBe(1);
    expect(wrong.log).toContain(message);
    expect(wrong.log).not.toMatch(/\n\s+at /);
  }
});

test("SIGTERM ends it when the last response is sent", async () => {
  const other = new Host(output, { ...environment(), SETUP_TOKEN: setupToken });
  await other.start();
  const startedAt = performance.now();
  expect([0, 143]).toContain(await other.stop("SIGTERM"));
  expect(performance.now() - startedAt).toBeLessThan(15_000);
});
