// `next start` in a checkout: the program that starts Next's server is another than that of the standalone output.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "#lib/db/ports";
import { setEnv } from "#lib/env";
import { asResponse, bearer, expectApiHeaders, expectProblem, openRequest } from "../api/client.ts";
import { freshDatabase, testEnvironment } from "../support/database.ts";
import { get, jobEnd, logIn, makeUser, post, type Server, setupToken } from "../support/server.ts";

let child: ChildProcess;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let server: Server;
let log = "";

async function isUp(url: string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`next start ended: ${log}`);
  return (await fetch(`${url}/api/health`).catch(() => undefined))?.ok ?? false;
}

beforeAll(async () => {
  database = await freshDatabase();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const words = ["node_modules/next/dist/bin/next", "start", "--hostname", "127.0.0.1", "--port", String(port)];
  const { PATH = "", HOME = "" } = process.env;
  const environment = { DATABASE_URL: database.url, BASE_URL: "http://localhost:3000", SETUP_TOKEN: setupToken };
  child = spawn(process.execPath, words, {
    env: { PATH, HOME, ...testEnvironment, NODE_ENV: "production", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes) => (log += bytes));
  server = { url, stop: async () => {} };
  while (!(await isUp(url))) await sleep(50);
  setEnv({ SETUP_TOKEN: setupToken });
});
afterAll(async () => {
  if (child && child.exitCode === null) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  await database?.drop();
});

async function ask(path: string, method = "GET", headers: Record<string, string> = {}): Promise<Response> {
  const { request, answer } = openRequest(server, path, { method, headers });
  request.end();
  return asResponse(await answer);
}

test.each(["/api//limits", "/api//x", "/api/%zz", "/api/limits//", "/api/nothing"])(
  "%s is a 404 like every other",
  async (path) => {
    for (const method of ["GET", "POST"]) await expectProblem(await ask(path, method), 404, "not_found");
  },
);

test("an unknown method and a missing file are answered as everywhere", async () => {
  await expectProblem(await ask("/api/limits", "PROPFIND"), 405, "method_not_allowed");
  const missing = await ask("/_next/static/none.js");
  expect(missing.status).toBe(404);
  expect(missing.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
});

test("a client does not choose its request's id", async () => {
  const id = "01900000-0000-7000-8000-000000000000";
  const response = await ask("/api/limits", "GET", { "X-Spoor-Request-Id": id, "X-Request-Id": id });
  expectApiHeaders(response.headers);
  expect(response.headers.get("x-request-id")).not.toBe(id);
});

test("an upload is readable within two seconds without a worker", async () => {
  const token = await logIn(server, await makeUser());
  const traces = [{ sourceId: "s", messages: [{ position: 0, role: "user", content: "marmalade" }] }];
  const response = await post(server, "/api/ingest", { traces }, bearer(token));
  expect(response.status).toBe(202);
  const { jobId } = (await response.json()) as { jobId: string };
  expect(await jobEnd(server, jobId, token, 2)).toMatchObject({ status: "succeeded" });
  const { traces: found } = await (await get(server, "/api/traces", token)).json();
  expect(found).toHaveLength(1);
});
