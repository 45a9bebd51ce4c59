import { randomBytes } from "node:crypto";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { isLong } from "../support/long.ts";
import { get, logIn, makeUser, provideOwnedServer } from "../support/server.ts";
import { bearer, expectApiHeaders, expectProblem, sessionCookie, withoutRequestId } from "./client.ts";

const { server, token } = await provideOwnedServer({ worker: false });
const otherToken = await logIn(server, await makeUser({ name: "Bob", email: "bob@example.org", password: "" }));
const cookie = await sessionCookie(server);

const batch = (content: string) =>
  Buffer.from(JSON.stringify({ traces: [{ sourceId: "raw", messages: [{ position: 0, content }] }] }, null, 2));

async function send(body: Buffer, encoding?: string, as = token): Promise<string> {
  const response = await fetch(`${server.url}/api/ingest`, {
    method: "POST",
    headers: {
      ...bearer(as),
      "Content-Type": "application/json",
      ...(encoding ? { "Content-Encoding": encoding } : {}),
    },
    body: Uint8Array.from(body),
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as { jobId: string }).jobId;
}

const path = (jobId: string) => `/api/ingest/${jobId}/raw`;
const download = (jobId: string, init: RequestInit = {}) =>
  fetch(server.url + path(jobId), { ...init, headers: { Cookie: cookie, ...init.headers } });

test("an upload is downloaded as JSON of what was sent, and never shown in the browser", async () => {
  const body = batch("Grüße, 世界 <script>");
  const jobId = await send(body);
  const response = await download(jobId);
  expect(response.status).toBe(200);
  expectApiHeaders(response.headers);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/json",
    "content-disposition": `attachment; filename="spoor-upload-${jobId}.json"`,
    "x-content-type-options": "nosniff",
    "content-security-policy": expect.stringContaining("sandbox"),
    "cross-origin-resource-policy": "same-origin",
  });
  const sent = JSON.parse(body.toString());
  expect(await response.json()).toEqual({ traces: [{ source: "unknown", ...sent.traces[0] }] });
  const head = await download(jobId, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test("the download can be sent again, and is the same however the upload was compressed, also in several zstd frames", async () => {
  const body = batch(randomBytes(3_000_000).toString("base64"));
  const at = 1_500_000;
  const framed = Buffer.concat([zstdCompressSync(body.subarray(0, at)), zstdCompressSync(body.subarray(at))]);
  const jobs = [await send(body), await send(gzipSync(body), "gzip")];
  await pool().query("delete from ingest_job"); // what comes again would be copied from the first
  jobs.push(await send(framed, "zstd"));
  const [jobId = ""] = jobs.slice(-1);
  const text = await (await download(jobId)).text();
  expect(JSON.parse(text)).toMatchObject(JSON.parse(body.toString()));
  for (const again of [await send(gzipSync(body), "gzip"), await send(Buffer.from(text))]) {
    expect((await (await download(again)).text()) === text).toBe(true);
  }
});

test("an upload of 46 MB (100 in a long run) is downloaded completely, and a reader that disconnects does no harm", async () => {
  const body = batch("The same words again. ".repeat(isLong ? 5_000_000 : 2_000_000));
  const jobId = await send(zstdCompressSync(body), "zstd");
  const left = new AbortController();
  const reader = (await download(jobId, { signal: left.signal })).body?.getReader();
  await reader?.read();
  left.abort();
  // The buffers on the way (up to 32 MiB of receive window) would take a smaller or compressed text, and end the download.
  const asStored = { headers: { "Accept-Encoding": "identity" } };
  const held = await Promise.all([download(jobId, asStored), download(jobId, asStored)]);
  expect(held.map(({ status }) => status)).toEqual([200, 200]);
  await expectProblem(await download(jobId), 503, "overloaded"); // a download is an export, of which two run at a time
  for (const { body } of held) await body?.cancel();
  const sent = JSON.parse(body.toString()).traces[0].messages[0].content;
  const received = JSON.parse(await (await download(jobId)).text()).traces[0].messages[0].content;
  expect([received.length, received === sent]).toEqual([sent.length, true]);
  expect((await get(server, "/api/health")).status).toBe(200);
});

test("an upload that is gone, another user's or unknown is missing, with the same response", async () => {
  const gone = await send(batch("gone"));
  await pool().query("delete from upload where job_id = $1", [gone]);
  const theirs = await send(batch("theirs"), undefined, otherToken);
  const answers = await Promise.all([gone, theirs, "01900000-0000-7000-8000-000000000000"].map((id) => download(id)));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  const [first, ...others] = await Promise.all(answers.map(withoutRequestId));
  for (const other of others) expect(other).toEqual(first);
  await expectProblem(await download("not-an-id"), 404, "not_found");
});

test("only a signed-in browser can download it", async () => {
  const jobId = await send(batch("closed"));
  await expectProblem(await get(server, path(jobId), token), 401, "missing_token");
  await expectProblem(await get(server, path(jobId)), 401, "missing_token");
});
