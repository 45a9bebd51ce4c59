import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { isLong, longTest } from "../support/long.ts";
import { get, ingest, jobEnd, post, provideOwnedServer } from "../support/server.ts";
import { accepted, bearer, makeSender, openRequest } from "./client.ts";

const { server, token } = await provideOwnedServer();

type TraceJson = { id: string; sourceId: string; sanitized: boolean; messageCount: number; title: string | null };
type MessageJson = { position: number; content: string };

const sendBytes = makeSender(server, token);

async function readBack(sourceId: string): Promise<TraceJson & { messages: MessageJson[] }> {
  const list = (await (await get(server, "/api/traces?limit=200", token)).json()) as { traces: TraceJson[] };
  const trace = list.traces.find((one) => one.sourceId === sourceId);
  if (!trace) throw new Error(`there is no trace ${sourceId}`);
  const page = await (await get(server, `/api/traces/${trace.id}/messages?limit=1000`, token)).json();
  return { ...trace, messages: (page as { messages: MessageJson[] }).messages };
}

describe("an accepted batch", () => {
  test("is answered with exactly ok, jobId and status, and the job's Location", async () => {
    const job = await jobEnd(server, await accepted(await sendBytes('{"traces":[]}')), token);
    expect(job).toMatchObject({ status: "succeeded", traces: { received: 0 }, messages: { received: 0, written: 0 } });
  });

  test("may have the minimal fields only", async () => {
    const card = {
      sourceId: "card",
      model: "a-model",
      createdAt: "2026-11-01T10:00:00Z",
      messages: [{ position: 0, content: "hello", tokenCount: 1, createdAt: "2026-11-01T10:00:01.5+01:00" }],
    };
    expect(await ingest(server, token, [card])).toMatchObject({ traces: { created: 1 }, messages: { written: 1 } });
    expect(await readBack("card")).toMatchObject({
      source: "unknown",
      messages: [{ ...card.messages[0], role: null, createdAt: "2026-11-01T09:00:01.500Z" }],
    });
  });

  test("may have unknown fields everywhere; those of traces and messages are stored in metadata", async () => {
    const trace = {
      sourceId: "extra",
      cwd: "/x",
      metadata: { a: 1 },
      messages: [{ position: 0, content: "", tool: { b: [] } }],
    };
    await jobEnd(server, await accepted(await sendBytes(JSON.stringify({ client: "c", traces: [trace] }))), token);
    expect(await readBack("extra")).toMatchObject({
      metadata: { a: 1, cwd: "/x" },
      messages: [{ metadata: { tool: { b: [] } } }],
    });
  });

  test("may reach every limit", async () => {
    const message = { position: 2_147_483_647, content: "", role: "r".repeat(32), tokenCount: 2_147_483_647 };
    const longest = {
      sourceId: "l".repeat(512),
      source: "s".repeat(128),
      model: "m".repeat(256),
      title: "t".repeat(512),
      project: "p".repeat(256),
      messages: [message, { ...message, position: 0 }],
    };
    expect(await ingest(server, token, [longest])).toMatchObject({ status: "succeeded", messages: { written: 2 } });
    expect(await readBack(longest.sourceId)).toMatchObject({ tokenCount: 4_294_967_294, messageCount: 2 });
    const unicode = "\u{1f600}".repeat(256);
    expect(await ingest(server, token, [{ sourceId: unicode, messages: [] }])).toMatchObject({ status: "succeeded" });
    const wide = "\uffee".repeat(512);
    expect(await ingest(server, token, [{ sourceId: wide, source: wide.slice(0, 128), messages: [] }])).toMatchObject({
      traces: { created: 1 },
    });
    const many = Array.from({ length: 1000 }, (_, n) => ({ source: "many", sourceId: `${n}`, messages: [] }));
    expect(await ingest(server, token, many)).toMatchObject({ traces: { received: 1000, created: 1000 } });
    await pool().query("delete from trace where source = 'many'");
  });

  const most = isLong ? 50_000 : 10_000;
  test(`of ${most.toLocaleString("en-US")} messages in one trace is stored completely`, async () => {
    const messages = Array.from({ length: most }, (_, n) => ({ position: 49_999 - n, content: `${n}` }));
    const job = await ingest(server, token, [{ sourceId: "most", messages }]);
    expect(job).toMatchObject({ status: "succeeded", messages: { received: most, written: most } });
    expect((await readBack("most")).messageCount).toBe(most);
  });

  // In a quick run a larger one with a message of 9 MB is (trace-messages.test.ts).
  longTest("of 11 MB is stored completely", async () => {
    const content = Array.from({ length: 1_600_000 }, (_, n) => `${(n * 7919) % 1_000_003}`.padStart(7, "0")).join("");
    expect(content.length).toBeGreaterThan(11_000_000);
    expect(await ingest(server, token, [{ sourceId: "11 MB", messages: [{ position: 0, content }] }])).toMatchObject({
      status: "succeeded",
    });
    const { messages } = await readBack("11 MB");
    expect(messages[0]?.content === content).toBe(true);
  });

  test("with U+0000 and lone surrogates in its text is stored with U+FFFD and flagged", async () => {
    const body = `{"traces":[{"sourceId":"nul","title":"a\\u0000b","model":"\\udc00","metadata":{"k\\u0000":["\\ud800"]},"messages":[{"position":0,"content":"\\u0000x\\ud800y\\udfff"}]},{"sourceId":"clean","messages":[{"position":0,"content":"\\ud83d\\ude00"}]}]}`;
    await jobEnd(server, await accepted(await sendBytes(body)), token);
    expect(await readBack("nul")).toMatchObject({
      sanitized: true,
      title: "a\ufffdb",
      model: "\ufffd",
      metadata: { "k\ufffd": ["\ufffd"] },
      messages: [{ content: "\ufffdx\ufffdy\ufffd" }],
    });
    expect(await readBack("clean")).toMatchObject({ sanitized: false, messages: [{ content: "\u{1f600}" }] });
  });

  // Such a time may be refused or stored, but must not be accepted and fail later.
  test.each([
    "0000-01-01T00:00:00+12:00",
    "0000-06-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59-12:00",
  ])("with the time %s can be read afterwards, or is refused", async (createdAt) => {
    const trace = {
      source: "times",
      sourceId: createdAt,
      createdAt,
      messages: [{ position: 0, content: "", createdAt }],
    };
    const response = await post(server, "/api/ingest", { traces: [trace] }, bearer(token));
    if (response.status === 400) return expect(await response.json()).toMatchObject({ error: "invalid_request" });
    const job = await jobEnd(server, await accepted(response), token);
    const answers = [];
    const { rows } = await pool().query<{ id: string }>("select id from trace where source = 'times'");
    const paths = [
      "/api/traces?source=times",
      "/api/traces/export?source=times",
      `/api/traces/${rows[0]?.id}/messages`,
    ];
    for (const path of paths) answers.push((await get(server, path, token)).status);
    await pool().query("delete from trace where source = 'times'");
    expect({ status: job.status, answers }).toEqual({ status: "succeeded", answers: [200, 200, 200] });
  });
});

describe("a compressed body", () => {
  const encoders = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync };
  test.each(Object.entries(encoders))("in %s is accepted", async (encoding, encode) => {
    const sourceId = `in ${encoding}`;
    const content = "It is compressed. ".repeat(10_000);
    const body = encode(JSON.stringify({ traces: [{ sourceId, messages: [{ position: 0, content }] }] }));
    const jobId = await accepted(await sendBytes(Uint8Array.from(body), { "Content-Encoding": encoding }));
    expect(await jobEnd(server, jobId, token)).toMatchObject({ status: "succeeded", traces: { created: 1 } });
    expect((await readBack(sourceId)).messages[0]?.content === content).toBe(true);
  });

  test("may name its encoding in upper case", async () => {
    await accepted(await sendBytes(Uint8Array.from(gzipSync('{"traces":[]}')), { "Content-Encoding": "GZIP" }));
  });
});

test("a response is not compressed, whatever the client accepts", async () => {
  const response = await sendBytes(Uint8Array.from(Buffer.from('{"traces":[]}')), { "Accept-Encoding": "gzip, br" });
  expect(response.headers.get("Content-Encoding")).toBeNull();
  await accepted(response);
});

describe("a body sent in parts", () => {
  test("without a length is accepted", async () => {
    const { request, answer } = openRequest(server, "/api/ingest", { headers: bearer(token) });
    for (const part of ['{"tra', 'ces":', "[]}"]) {
      request.write(part);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    request.end();
    expect((await answer).status).toBe(202);
  });

  test("after Expect: 100-continue is accepted", async () => {
    const headers = { ...bearer(token), Expect: "100-continue", "Content-Length": "13" };
    const { request, answer } = openRequest(server, "/api/ingest", { headers });
    request.flushHeaders();
    await new Promise((resolve) => request.once("continue", resolve));
    request.end('{"traces":[]}');
    expect((await answer).status).toBe(202);
  });
});
