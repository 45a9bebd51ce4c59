import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { openSetup } from "#lib/auth/setup";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { freePort } from "#lib/db/embedded/ports";
import { SpoorProcess } from "../faults/process.ts";
import { freshDatabase, testEnvironment } from "../support/database.ts";
import { readForm } from "../support/form.ts";
import { get, ingest, logIn, makeUser, owner, post, setupToken, someAddress } from "../support/server.ts";
import { bearer, sessionCookie } from "./client.ts";

const database = await freshDatabase();
const port = await freePort();
const url = `http://localhost:${port}`;
const metricsToken = "canary metrics token";
const environment = {
  ...testEnvironment,
  DATABASE_URL: database.url,
  PORT: String(port),
  BASE_URL: url,
  SETUP_TOKEN: setupToken,
  METRICS_TOKEN: metricsToken,
  NODE_ENV: "production",
  LOG_LEVEL: "debug",
};
setEnv(environment);
await openSetup();
const web = new SpoorProcess("web", environment);
const worker = new SpoorProcess("worker", environment);
afterAll(async () => {
  await Promise.all([web.kill(), worker.kill()]);
  await database.drop();
});
await Promise.all([web.ready(), worker.ready()]);
const server = { url, stop: async () => {} };

type Line = {
  level: string;
  msg: string;
  event?: string;
  address?: string;
  digest?: string;
  route?: string;
  status?: number;
  requestId?: string;
  userId?: string;
  jobId?: string;
};

/** Every line of a process's log. */
const lines = (output: string): Line[] =>
  output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));

/** Sends what looks like a server action. @returns the status */
async function postPage(headers: Record<string, string>, body: string): Promise<number> {
  const type = { "Content-Type": "text/plain;charset=UTF-8" };
  const response = await fetch(`${url}/sign-in`, {
    method: "POST",
    headers: { Origin: url, ...type, ...headers },
    body,
  });
  await response.text();
  return response.status;
}

/** Asks as Next's client does, whose requests for a part of a page have a checksum of their headers in the address. */
async function askForPart(path: string, headers: Record<string, string>): Promise<number> {
  const init = { headers: { RSC: "1", ...headers }, redirect: "manual" } as const;
  const first = await fetch(url + path, init);
  const there = first.headers.get("location");
  return there && first.status === 307 ? (await fetch(new URL(there, url), init)).status : first.status;
}

test("a malformed header, form or action is refused with 400, and is no error of the server's", async () => {
  const errors = () => lines(web.output).filter(({ level }) => level === "error" || level === "fatal").length;
  const before = errors();
  for (const path of ["/404", "/sign-in", "/docs", "/"]) {
    for (const state of ["%zz", "garbage", "{", "[]", "null", "%5B%22%22%2C1%5D"]) {
      expect([path, state, await askForPart(path, { "Next-Router-State-Tree": state })]).toEqual([path, state, 400]);
    }
    const usual = encodeURIComponent(JSON.stringify(["", { children: ["__PAGE__", {}] }, null, null]));
    expect(await askForPart(path, { "Next-Router-State-Tree": usual })).toBeLessThan(405);
    for (const name of ["Next-Router-Prefetch", "Next-Router-Segment-Prefetch", "Next-HMR-Refresh", "Next-Url"]) {
      expect([name, await askForPart(path, { [name]: "/%zz" })]).not.toEqual([name, 500]);
    }
  }
  const form = "multipart/form-data; boundary=x";
  const cut = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb';
  const bodies = [
    ["multipart/form-data", "x"],
    [form, "garbage"],
    [form, ""],
    [form, cut],
  ];
  for (const path of ["/404", "/sign-in"]) {
    for (const [type = "", body = ""] of bodies) {
      const post = (more: Record<string, string>) =>
        fetch(url + path, { method: "POST", headers: { "Content-Type": type, Origin: url, ...more }, body });
      expect([path, body, (await post({})).status]).toEqual([path, body, 400]);
      expect([path, body, (await post({ "Next-Action": "0".repeat(42) })).status]).toEqual([path, body, 400]);
    }
  }
  const noOrigin = new FormData();
  for (const [name, value] of Object.entries(await readForm(server, "/sign-in"))) noOrigin.set(name, value);
  expect((await fetch(`${url}/sign-in`, { method: "POST", body: noOrigin })).status).toBe(403);
  for (const body of ["", "{", "[1"]) expect(await postPage({ "Next-Action": "0".repeat(42) }, body)).toBe(400);
  expect(errors()).toBe(before);
});

test("each request has a line with its route's pattern, and nothing of a token, a code or content is in any line", async () => {
  const userId = await makeUser();
  const token = await logIn(server, userId, "canary-machine");
  const cookie = await sessionCookie(server);
  const canary = {
    sourceId: "canary-id",
    title: "canary-title",
    messages: [{ position: 0, content: "canary-content" }],
  };
  await ingest(server, token, [canary]);
  await post(server, "/api/ingest", { traces: [{ ...canary, messages: "canary-content" }] }, bearer(token));
  await post(server, "/api/ingest", '{"canary-content', bearer(token));
  const started = await post(
    server,
    "/api/cli/device/start",
    { machine: "canary" },
    { "X-Forwarded-For": someAddress() },
  );
  const { deviceCode, userCode } = await started.json();
  await get(server, `/api/cli/device/poll?deviceCode=${deviceCode}`);
  await fetch(`${url}/device?code=${userCode}`, { headers: { Cookie: cookie } });
  await fetch(`${url}/canary-path?canary=query`, { headers: { Cookie: cookie } });
  await get(server, "/api/metrics", metricsToken);
  const wrong = { email: "canary@example.org", password: "canary password" };
  await post(server, "/api/auth/sign-in/email", wrong, { Origin: url, "X-Forwarded-For": "203.0.113.61" });
  await post(server, "/api/auth/sign-in/email", { ...wrong, email: owner.email }, { Origin: url });
  await pool().query("alter table trace rename to trace_away");
  const failedPage = await fetch(`${url}/traces`, { headers: { Cookie: cookie } });
  const failedPageText = await failedPage.text();
  await pool().query("alter table trace_away rename to trace");
  // Next writes about these to the console.
  const ownErrors = [
    await postPage({ "Next-Action": "a".repeat(42) }, "[]"),
    await postPage({ "Next-Action": "canary-action" }, '["canary-argument"]'),
    await postPage({ "Next-Action": "a".repeat(42) }, "canary { not JSON"),
    await postPage({ "Content-Type": "multipart/form-data; boundary=x" }, "--x\r\ncanary"),
  ];
  expect(ownErrors.filter((status) => status < 400)).toEqual([]);
  const unknownJob = await get(server, `/api/ingest/${randomUUID()}`, token);

  for (const one of [web, worker]) one.signal("SIGTERM");
  await Promise.all([web.ended(), worker.ended()]); // so that all of their output is here
  const requests = lines(web.output).filter(({ route }) => route !== undefined);
  const found = requests.find(({ requestId }) => requestId === unknownJob.headers.get("x-request-id"));
  expect(found).toMatchObject({ level: "info", route: "/api/ingest/{jobId}", status: 404, userId });
  for (const route of ["/api/ingest", "/api/cli/device/poll", "/device", "unknown"]) {
    expect(requests.map((line) => line.route)).toContain(route);
  }
  expect(requests.find(({ route }) => route === "/api/metrics")?.level).toBe("debug");
  expect(lines(worker.output).some(({ jobId }) => jobId !== undefined)).toBe(true);

  // What the error page shows is in the line that says why the page failed.
  const failure = lines(web.output).find(({ digest }) => digest !== undefined);
  expect(failure).toMatchObject({ level: "error", requestId: failedPage.headers.get("x-request-id") });
  for (const shown of [failure?.digest, failure?.requestId]) expect(failedPageText).toContain(shown);

  // What concerns security is told apart, with who and where but no name.
  const events = lines(web.output).filter(({ msg }) => msg === "security event");
  const of = (event: string) => events.find((line) => line.event === event);
  expect(of("signed_in")).toMatchObject({ level: "info", userId, requestId: expect.any(String) });
  expect(of("sign_in_failed")).toMatchObject({ level: "info", userId, address: expect.any(String) });
  expect(of("unknown_account")).toMatchObject({ level: "warn", address: "203.0.113.61" });
  expect(of("unknown_account")?.userId).toBeUndefined();

  const strange = web.output.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
  expect(strange).toEqual([]);
  const ofNext = lines(web.output).filter(({ msg }) => msg.includes("Server Action"));
  expect(ofNext.length).toBeGreaterThan(0);
  for (const line of ofNext) expect(line.requestId).toMatch(/^[0-9a-f-]{36}$/);

  const all = web.output + worker.output;
  const secrets = [token, deviceCode, userCode, cookie.split("=")[1], owner.password, setupToken, "canary"];
  for (const secret of secrets) expect(all.includes(secret), `${secret} is in a log`).toBe(false);
});
