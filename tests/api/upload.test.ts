import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { getListedJob } from "#lib/ingest/jobs";
import { provideOwnedServer } from "../support/server.ts";
import { bearer, expectProblem, sessionCookie } from "./client.ts";

const { server, userId, token } = await provideOwnedServer();
const cookie = await sessionCookie(server);

const send = (body: BodyInit, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/api/uploads`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Cookie: cookie, Origin: server.url, ...headers },
    body,
    redirect: "manual",
  });
const batch = (sourceId: string, content = "text") =>
  JSON.stringify({ traces: [{ sourceId, messages: [{ position: 0, content }] }] });

test("a browser's upload becomes a job of the machine browser, and the same one with the same key", async () => {
  const first = await send(batch("one"), { "Idempotency-Key": "k" });
  expect(first.status).toBe(202);
  const { jobId } = await first.json();
  expect(await getListedJob(userId, jobId)).toMatchObject({ machine: "browser", traces: { received: 1 } });
  const zipped = await send(gzipSync(batch("one")), { "Idempotency-Key": "k", "Content-Encoding": "gzip" });
  expect(await zipped.json()).toMatchObject({ jobId });
});

test("a body over 10 MB, where Next would truncate it, is stored completely", async () => {
  const response = await send(batch("large", "x".repeat(12 * 1024 * 1024)));
  expect(response.status).toBe(202);
  const { jobId } = await response.json();
  expect((await getListedJob(userId, jobId)).bytes).toBeGreaterThan(12 * 1024 * 1024);
});

test("no session, a token, another site's page and a missing Origin are refused", async () => {
  await expectProblem(await send(batch("x"), { Cookie: "" }), 401, "missing_token");
  await expectProblem(await send(batch("x"), { Cookie: "", ...bearer(token) }), 401, "missing_token");
  await expectProblem(await send(batch("x"), { Origin: "https://evil.example" }), 403, "access_denied");
  await expectProblem(await send(batch("x"), { Origin: "" }), 403, "access_denied");
  await expectProblem(await send(batch("x"), { "Sec-Fetch-Site": "same-site" }), 403, "access_denied");
});

test("a batch that is not valid is refused with its paths", async () => {
  const problem = await expectProblem(await send('{"traces":[{"messages":[]}]}'), 400, "invalid_request");
  expect(problem).toMatchObject({ errors: [{ path: "traces.0.sourceId" }] });
});

const form = (file: Blob | string) => {
  const data = new FormData();
  data.set("file", file);
  return fetch(`${server.url}/api/uploads`, {
    method: "POST",
    headers: { Cookie: cookie, Origin: server.url },
    body: data,
    redirect: "manual",
  });
};

test("a form leads to its job, or back to the page with what was wrong and the id of the refused request", async () => {
  const location = async (file: Blob | string) => {
    const response = await form(file);
    expect(response.status).toBe(303);
    return response.headers.get("location") ?? "";
  };
  expect(await location(new Blob([batch("form")]))).toMatch(/^\/uploads\/[0-9a-f-]{36}$/);
  expect(await location(new Blob([gzipSync(batch("form-gzip"))]))).toMatch(/^\/uploads\/[0-9a-f-]{36}$/);
  for (const [file, refused] of [
    [new Blob(["{"]), "refused=invalid_json"],
    [new Blob(['{"traces":[{"messages":[]}]}']), "refused=invalid_request&path=traces.0.sourceId"],
    ["no file", "refused=invalid_request"],
    [new Blob(["x".repeat(17 * 1024 * 1024)]), "refused=payload_too_large"],
  ] as const) {
    const response = await form(file);
    const requestId = response.headers.get("x-request-id");
    expect(response.headers.get("location")).toBe(`/upload?${refused}&request=${requestId}`);
    const page = await fetch(server.url + response.headers.get("location"), { headers: { Cookie: cookie } });
    expect(await page.text()).toContain(requestId);
  }
});
