import { describe, expect, test } from "vitest";
import { post, provideOwnedServer } from "../support/server.ts";
import { bearer, expectProblem, storedUploads } from "./client.ts";

const { server, token } = await provideOwnedServer({ worker: false });

const send = (body: unknown, headers: Record<string, string> = {}) =>
  post(server, "/api/ingest", body, { ...bearer(token), ...headers });

/** A valid trace; its text must not appear in any response. */
const valid = { sourceId: "canary-source", messages: [{ position: 0, content: "canary content" }] };
const withMessage = (message: object) => ({ traces: [{ sourceId: "s", messages: [{ ...message }] }] });
const withTrace = (trace: object) => ({ traces: [{ sourceId: "s", messages: [], ...trace }] });
const message = { position: 0, content: "canary content" };
const inTrace = (field: string) => [`traces.0.${field}`];
const inMessage = (field: string) => [`traces.0.messages.0.${field}`];
const long = (length: number) => "canary".repeat(length).slice(0, length);

const invalid: [name: string, body: unknown, paths: string[]][] = [
  ["a body that is an array", [], [""]],
  ["a body that is a string", '"canary"', [""]],
  ["a body that is null", "null", [""]],
  ["no traces", {}, ["traces"]],
  ["traces that are no array", { traces: { 0: valid } }, ["traces"]],
  ["traces that are null", { traces: null }, ["traces"]],
  ["1001 traces", { traces: Array.from({ length: 1001 }, (_, n) => ({ ...valid, sourceId: `${n}` })) }, ["traces"]],
  ["a trace that is no object", { traces: ["canary"] }, ["traces.0"]],
  ["no sourceId", { traces: [{ messages: [] }] }, inTrace("sourceId")],
  ["an empty sourceId", withTrace({ sourceId: "" }), inTrace("sourceId")],
  ["a sourceId of 513 characters", withTrace({ sourceId: long(513) }), inTrace("sourceId")],
  ["a sourceId of 513 emoji", withTrace({ sourceId: "\u{1f600}".repeat(513) }), inTrace("sourceId")],
  ["a sourceId that is a number", withTrace({ sourceId: 7 }), inTrace("sourceId")],
  ["a sourceId with U+0000", withTrace({ sourceId: "canary\0" }), inTrace("sourceId")],
  ["a sourceId with a lone surrogate", '{"traces":[{"sourceId":"canary\\ud800","messages":[]}]}', inTrace("sourceId")],
  ["a source with U+0000", withTrace({ source: "canary\0" }), inTrace("source")],
  [
    "a source with a lone surrogate",
    '{"traces":[{"sourceId":"s","source":"\\udc00","messages":[]}]}',
    inTrace("source"),
  ],
  ["an empty source", withTrace({ source: "" }), inTrace("source")],
  ["a source of 129 characters", withTrace({ source: long(129) }), inTrace("source")],
  ["no messages", { traces: [{ sourceId: "s" }] }, inTrace("messages")],
  ["messages that are no array", withTrace({ messages: {} }), inTrace("messages")],
  ["a model of 257 characters", withTrace({ model: long(257) }), inTrace("model")],
  ["a title of 513 characters", withTrace({ title: long(513) }), inTrace("title")],
  ["a project of 257 characters", withTrace({ project: long(257) }), inTrace("project")],
  ["a replace that is no boolean", withTrace({ replace: "canary" }), inTrace("replace")],
  ["metadata that is an array", withTrace({ metadata: ["canary"] }), inTrace("metadata")],
  ["metadata that is a string", withTrace({ metadata: "canary" }), inTrace("metadata")],
  ["a createdAt that is no date", withTrace({ createdAt: "canary" }), inTrace("createdAt")],
  ["a createdAt without an offset", withTrace({ createdAt: "2026-11-01T10:00:00" }), inTrace("createdAt")],
  ["a createdAt that is a date alone", withTrace({ createdAt: "2026-11-01" }), inTrace("createdAt")],
  ["a createdAt on 30 February", withTrace({ createdAt: "2026-02-30T10:00:00Z" }), inTrace("createdAt")],
  ["a createdAt that is a number", withTrace({ createdAt: 1_793_000_000_000 }), inTrace("createdAt")],
  ["a message that is no object", withTrace({ messages: ["canary"] }), ["traces.0.messages.0"]],
  ["a message without content", withMessage({ position: 0 }), inMessage("content")],
  ["a content that is a number", withMessage({ position: 0, content: 7 }), inMessage("content")],
  ["a content that is null", withMessage({ position: 0, content: null }), inMessage("content")],
  ["a message without position", withMessage({ content: "canary" }), inMessage("position")],
  ["a position below zero", withMessage({ ...message, position: -1 }), inMessage("position")],
  ["a position with a fraction", withMessage({ ...message, position: 0.5 }), inMessage("position")],
  ["a position of 2147483648", withMessage({ ...message, position: 2_147_483_648 }), inMessage("position")],
  ["a position of 2 to the power of 53", withMessage({ ...message, position: 2 ** 53 }), inMessage("position")],
  ["a position that is a string", withMessage({ ...message, position: "0" }), inMessage("position")],
  [
    "a position past every number",
    '{"traces":[{"sourceId":"s","messages":[{"position":1e999,"content":""}]}]}',
    inMessage("position"),
  ],
  ["a tokenCount of 2147483648", withMessage({ ...message, tokenCount: 2_147_483_648 }), inMessage("tokenCount")],
  ["a tokenCount below zero", withMessage({ ...message, tokenCount: -1 }), inMessage("tokenCount")],
  ["a tokenCount with a fraction", withMessage({ ...message, tokenCount: 1.5 }), inMessage("tokenCount")],
  ["a role of 33 characters", withMessage({ ...message, role: long(33) }), inMessage("role")],
  [
    "a message's createdAt without an offset",
    withMessage({ ...message, createdAt: "2026-11-01T10:00:00" }),
    inMessage("createdAt"),
  ],
  [
    "a message's createdAt on 31 April",
    withMessage({ ...message, createdAt: "2026-04-31T10:00:00Z" }),
    inMessage("createdAt"),
  ],
  [
    "a message's metadata of numbers that are long when they are written out",
    withMessage({ ...message, metadata: { n: Array(50_000).fill(1e308) } }),
    inMessage("metadata"),
  ],
  ["a message's metadata that is an array", withMessage({ ...message, metadata: [] }), inMessage("metadata")],
  [
    "a repeated position",
    withTrace({ messages: [message, { ...message, position: 5 }, message] }),
    ["traces.0.messages.2.position"],
  ],
  [
    "one bad trace among ten",
    {
      traces: Array.from({ length: 10 }, (_, n) => (n === 9 ? { ...valid, model: 7 } : { ...valid, sourceId: `${n}` })),
    },
    ["traces.9.model"],
  ],
];

describe("an invalid batch", () => {
  test.each(invalid)("is refused as a whole, with the path of its fault: %s", async (_name, body, paths) => {
    const before = await storedUploads();
    const response = await send(body);
    const text = await response.clone().text();
    const problem = await expectProblem(response, 400, "invalid_request");
    expect(problem.errors?.map(({ path }) => path)).toEqual(paths);
    expect(text).not.toContain("canary");
    expect(await storedUploads()).toEqual(before);
  });

  test("names at most 20 of its faults", async () => {
    const traces = Array.from({ length: 30 }, () => ({ messages: [] }));
    expect((await expectProblem(await send({ traces }), 400, "invalid_request")).errors).toHaveLength(20);
    const messages = Array.from({ length: 30 }, () => message);
    const repeated = await expectProblem(await send({ traces: [{ sourceId: "s", messages }] }), 400, "invalid_request");
    expect(repeated.errors).toHaveLength(20);
  });

  test("is one with a trace of 50,001 messages", async () => {
    const before = await storedUploads();
    const messages = Array.from({ length: 50_001 }, (_, position) => ({ position, content: "" }));
    const problem = await expectProblem(
      await send({ traces: [valid, { sourceId: "long", messages }] }),
      400,
      "invalid_request",
    );
    expect(problem.errors?.map(({ path }) => path)).toEqual(["traces.1.messages"]);
    expect(await storedUploads()).toEqual(before);
    expect((await send({ traces: [{ sourceId: "longest", messages: messages.slice(1) }] })).status).toBe(202);
  });

  test("is one nested deeper than 64 levels, even a million", async () => {
    const before = await storedUploads();
    const nest = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const inMetadata = (levels: number) =>
      `{"traces":[{"sourceId":"deep","messages":[],"metadata":{"a":${nest(levels)}}}]}`;
    for (const body of [inMetadata(61), inMetadata(1_000_000), nest(1_000_000), `{"traces":[],"x":${nest(100_000)}}`]) {
      await expectProblem(await send(body), 400, "invalid_request");
    }
    const objects = `${'{"a":'.repeat(1_000_000)}1${"}".repeat(1_000_000)}`;
    await expectProblem(await send(objects), 400, "invalid_request");
    expect(await storedUploads()).toEqual(before);
    expect((await send(inMetadata(60))).status).toBe(202);
  });
});

test("the length of a text is counted in code points, however many bytes or UTF-16 units they take", async () => {
  const emoji = (count: number) => "\u{1f600}".repeat(count);
  const texts = { sourceId: emoji(512), source: emoji(128), model: emoji(256), title: emoji(512), project: emoji(256) };
  expect((await send(withTrace({ ...texts, messages: [{ ...message, role: emoji(32) }] }))).status).toBe(202);
});

describe("a body that is not UTF-8 JSON", () => {
  const whole = Buffer.from(JSON.stringify({ traces: [valid] }));
  const bodies: [string, Uint8Array<ArrayBuffer>][] = [
    ["nothing at all", new Uint8Array()],
    ["JSON that is cut off", Uint8Array.from(whole.subarray(0, -1))],
    ["two values", Uint8Array.from([...whole, ...whole])],
    [
      "bytes that are no UTF-8",
      Uint8Array.from(Buffer.from(whole.toString("latin1").replace("content", "c\xe9ntent"), "latin1")),
    ],
    ["UTF-8 cut inside a character", Uint8Array.from([...whole.subarray(0, -1), 0xe2, 0x82])],
    [
      "an encoded surrogate",
      Uint8Array.from(Buffer.concat([whole.subarray(0, -4), Buffer.from([0xed, 0xa0, 0x80]), whole.subarray(-4)])),
    ],
    ["UTF-16", Uint8Array.from(Buffer.from(whole.toString(), "utf16le"))],
    ["JSON with a byte order mark", Uint8Array.from([0xef, 0xbb, 0xbf, ...whole])],
    ["NaN", Uint8Array.from(Buffer.from('{"traces":[],"x":NaN}'))],
  ];
  test.each(bodies)("is refused, and neither stored nor echoed: %s", async (_name, body) => {
    const before = await storedUploads();
    const response = await fetch(`${server.url}/api/ingest`, {
      method: "POST",
      headers: { ...bearer(token), "Content-Type": "application/json" },
      body,
    });
    const text = await response.clone().text();
    await expectProblem(response, 400, "invalid_json");
    expect(text).not.toContain("canary");
    expect(await storedUploads()).toEqual(before);
  });
});

describe("an invalid header", () => {
  test.each(["deflate", "compress", "lz4", "gzip, br", "gzip, gzip", "gzip,", "gzip;q=1", "*"])(
    "Content-Encoding: %s is refused as unsupported",
    async (encoding) => {
      const before = await storedUploads();
      await expectProblem(await send({ traces: [] }, { "Content-Encoding": encoding }), 415, "unsupported_encoding");
      expect(await storedUploads()).toEqual(before);
    },
  );

  test.each([
    ["empty", ""],
    ["of 256 characters", "k".repeat(256)],
    ["not ASCII", "cl\xe9"],
    ["with a tab inside", "a\tb"],
  ])("an Idempotency-Key that is %s is refused", async (_name, key) => {
    const before = await storedUploads();
    await expectProblem(await send({ traces: [] }, { "Idempotency-Key": key }), 400, "invalid_request");
    expect(await storedUploads()).toEqual(before);
  });
});
