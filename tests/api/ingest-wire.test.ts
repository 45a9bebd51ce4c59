import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { longTest } from "../support/long.ts";
import { get, post, provideOwnedServer } from "../support/server.ts";
import { type Answer, asResponse, bearer, expectProblem, openRequest, openSocket, storedUploads } from "./client.ts";

const MiB = 1 << 20;
const wireBytes = 64 * MiB;
const decodedBytes = 4 * MiB;

const { server, userId, token } = await provideOwnedServer({
  worker: false,
  environment: { INGEST_MAX_BYTES: String(decodedBytes) },
});

// Everything here is refused or aborted: after each test the tables are unchanged.
let before: Awaited<ReturnType<typeof storedUploads>>;
beforeEach(async () => {
  before = await storedUploads();
});
afterEach(async () => {
  expect(await storedUploads()).toEqual(before);
});

const batch = JSON.stringify({
  traces: [{ sourceId: "wire", messages: [{ position: 0, content: "x".repeat(5000) }] }],
});
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const sendEncoded = (encoding: string, body: Uint8Array) =>
  fetch(`${server.url}/api/ingest`, {
    method: "POST",
    headers: { ...bearer(token), "Content-Type": "application/json", "Content-Encoding": encoding },
    body: Uint8Array.from(body),
  });

/** Sends chunks until the server answers or there are no more. */
async function sendChunks(chunk: Uint8Array, count: number, headers: Record<string, string> = {}) {
  const { request, answer } = openRequest(server, "/api/ingest", { headers: { ...bearer(token), ...headers } });
  let answered = false;
  answer.then(
    () => (answered = true),
    () => (answered = true),
  );
  let sent = 0;
  for (; sent < count && !answered; sent++) {
    if (!request.write(chunk)) await Promise.race([once(request, "drain").catch(() => {}), answer.catch(() => {})]);
  }
  if (!answered) request.end();
  const result: Answer = await answer;
  request.destroy();
  return { answer: result, sentBytes: sent * chunk.byteLength };
}

describe("a body over a byte limit", () => {
  test("by its Content-Length is refused without being read", async () => {
    const headers = { ...bearer(token), "Content-Length": String(wireBytes + 1) };
    const { request, answer } = openRequest(server, "/api/ingest", { headers });
    request.flushHeaders();
    const problem = await expectProblem(asResponse(await answer), 413, "payload_too_large");
    expect(problem.detail).toContain(String(wireBytes));
    request.destroy();
  });

  test("in chunks is refused at the limit", async () => {
    const { answer, sentBytes } = await sendChunks(new Uint8Array(MiB).fill(32), 200);
    expect((await expectProblem(asResponse(answer), 413, "payload_too_large")).detail).toContain(String(wireBytes));
    expect(sentBytes).toBeLessThan(wireBytes + 40 * MiB);
  });

  test("is refused when the client reads only after sending all of it", async () => {
    const whole = Buffer.alloc(wireBytes + MiB, " ");
    const chunks = () =>
      new ReadableStream({
        start(controller) {
          for (let at = 0; at < whole.byteLength; at += MiB) controller.enqueue(whole.subarray(at, at + MiB));
          controller.close();
        },
      });
    for (const body of [whole, chunks()]) {
      const response = await fetch(`${server.url}/api/ingest`, {
        method: "POST",
        headers: { ...bearer(token), "Content-Type": "application/json" },
        body,
        duplex: "half",
      } as RequestInit);
      expect((await expectProblem(response, 413, "payload_too_large")).detail).toContain(String(wireBytes));
    }
  });

  test("of decoded bytes is refused without an encoding as well", async () => {
    const response = await post(server, "/api/ingest", " ".repeat(decodedBytes + 1), bearer(token));
    expect((await expectProblem(response, 413, "payload_too_large")).detail).toContain(String(decodedBytes));
  });

  const bombs: [string, (body: Uint8Array) => Uint8Array][] = [
    ["gzip", gzipSync],
    ["br", (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
    ["zstd", zstdCompressSync],
  ];
  test.each(bombs)("once decoded from %s, a thousand to one, is refused with the limit", async (encoding, encode) => {
    const bomb = encode(
      Buffer.concat([Buffer.from('{"traces":[],"x":"'), Buffer.alloc(64 * MiB, "a"), Buffer.from('"}')]),
    );
    expect(bomb.byteLength).toBeLessThan(MiB / 8);
    const response = await sendEncoded(encoding, bomb);
    expect((await expectProblem(response, 413, "payload_too_large")).detail).toContain(String(decodedBytes));
  });

  test.each(bombs)("by one byte once decoded from %s is refused", async (encoding, encode) => {
    const response = await sendEncoded(encoding, encode(Buffer.alloc(decodedBytes + 1, " ")));
    await expectProblem(response, 413, "payload_too_large");
    await expectProblem(await sendEncoded(encoding, encode(Buffer.alloc(decodedBytes, " "))), 400, "invalid_json");
  });
});

describe("a compressed body that is not one complete stream", () => {
  const encoders: [string, (body: Uint8Array) => Buffer][] = [
    ["gzip", (body) => gzipSync(body)],
    ["br", (body) => brotliCompressSync(body)],
    ["zstd", (body) => zstdCompressSync(body)],
  ];
  test.each(encoders)("in %s is refused", async (encoding, encode) => {
    const whole = encode(Buffer.from(batch));
    const flipped = Buffer.from(whole);
    flipped.fill(0xff, 8, 14);
    const wrong: Uint8Array[] = [
      Buffer.alloc(0),
      whole.subarray(0, 5),
      whole.subarray(0, Math.floor(whole.length / 2)),
      whole.subarray(0, -1),
      flipped,
      Buffer.concat([whole, Buffer.from([0])]),
      Buffer.concat([whole, Buffer.alloc(512)]),
      Buffer.concat([whole, Buffer.from("junk")]),
      Buffer.concat([whole, Buffer.from([0x1f, 0x8b, 0x08])]),
      Buffer.concat([Buffer.from("junk"), whole]),
      Buffer.from(batch),
      randomBytes(300),
    ];
    const statuses = [];
    for (const body of wrong) {
      const response = await sendEncoded(encoding, body);
      statuses.push(response.status);
      expect(await response.text()).not.toContain("xxxxx");
    }
    expect(statuses).toEqual(wrong.map(() => 400));
  });

  test("in zstd with a window over 8 MiB is refused", async () => {
    // Without the content's size the frame states the requested window.
    const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 };
    const wide = zstdCompressSync(Buffer.alloc(20 * MiB, "ab"), { params });
    await expectProblem(await sendEncoded("zstd", wide), 400, "invalid_request");
  });
});

describe("a truncated body", () => {
  const head = (length: string) =>
    `POST /api/ingest HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const declared = () => head(`Content-Length: ${batch.length + 10}`) + batch;
  const chunked = () => head("Transfer-Encoding: chunked") + chunk(batch);

  test.each([
    ["shorter than its Content-Length", declared],
    ["in chunks without the last one", chunked],
  ])("%s, its sender still listening, is refused", async (_name, text) => {
    const { socket, ended } = await openSocket(server);
    socket.end(text());
    expect(await ended).toMatch(/^(HTTP\/1\.1 400 |$)/);
    await sleep(100);
  });

  test.each([
    ["with a Content-Length", declared],
    ["in chunks", chunked],
  ])("%s, its sender gone, stores nothing and frees its memory", async (_name, text) => {
    for (let n = 0; n < 20; n++) {
      const { socket } = await openSocket(server);
      socket.write(text());
      await sleep(5);
      socket.resetAndDestroy();
    }
    await sleep(300);
  });

  test("with two conflicting lengths is refused", async () => {
    const { socket, ended } = await openSocket(server);
    socket.end(head(`Content-Length: ${batch.length}\r\nTransfer-Encoding: chunked`) + chunk(batch) + chunk(""));
    expect(await ended).toMatch(/^HTTP\/1\.1 400 /);
  });

  longTest("that stalls is ended with 408, and others are served meanwhile", async () => {
    const headers = { ...bearer(token), "Content-Length": "1000" };
    const { request, answer } = openRequest(server, "/api/ingest", { headers });
    request.write("{");
    await sleep(1000);
    expect((await get(server, "/api/health")).status).toBe(200);
    await expectProblem(asResponse(await answer), 408, "request_timeout");
    request.destroy();
  });
});

describe("a server with all its bytes in flight", () => {
  test("refuses the next body before reading it, and accepts more once those have ended", async () => {
    const headers = { ...bearer(token), "Content-Length": String(wireBytes) };
    const open = Array.from({ length: 8 }, () => openRequest(server, "/api/ingest", { headers }));
    for (const { request } of open) request.write("{");
    await sleep(500);
    const next = openRequest(server, "/api/ingest", { headers });
    next.request.flushHeaders();
    await expectProblem(asResponse(await next.answer), 503, "overloaded");
    next.request.destroy();
    expect((await get(server, "/api/health")).status).toBe(200);
    for (const { request } of open) request.destroy();
    await sleep(500);
    await expectProblem(await post(server, "/api/ingest", "", bearer(token)), 400, "invalid_json");
    const again = openRequest(server, "/api/ingest", { headers });
    again.request.flushHeaders();
    expect(await Promise.race([again.answer, sleep(500)])).toBeUndefined();
    again.request.destroy();
  });

  test("with 10,000 of a user's jobs queued refuses more before reading them", async () => {
    await pool().query(
      `insert into ingest_job (user_id, id, machine, bytes, body_sha256, traces_received, messages_received)
       select $1, gen_random_uuid(), 'full', 0, '', 0, 0 from generate_series(1, 10000)`,
      [userId],
    );
    await sleep(1100); // what the server knows of the queue may be a second old
    const { request, answer } = openRequest(server, "/api/ingest", {
      headers: { ...bearer(token), "Content-Length": "9" },
    });
    request.flushHeaders();
    await expectProblem(asResponse(await answer), 503, "overloaded");
    request.destroy();
    await pool().query("delete from ingest_job where machine = 'full'");
  });
});
