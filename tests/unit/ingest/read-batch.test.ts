import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readRow } from "#lib/ingest/decode/message-rows";
import {
  batch,
  compareMutated,
  encode,
  expectFirstErrors,
  expectTruncationsRefused,
  longNumbers,
  message,
  read,
  readStored,
  readWhole,
  trace,
  validBatches,
} from "./batches.ts";

describe("a batch has the same rows and headers, read trace by trace, whole, and as it is stored", () => {
  test.each(Object.entries(validBatches))("%s", async (_, value) => {
    const bytes = encode(value);
    const split = await read(bytes);
    expect(split).toHaveProperty("headers");
    expect(await readWhole(bytes)).toEqual(split);
    expect(withoutSanitized(await readStored(bytes))).toEqual(withoutSanitized(split));
  });

  test.each(readdirSync("tests/fixtures/sessions"))("%s", async (name) => {
    const session = JSON.parse(readFileSync(`tests/fixtures/sessions/${name}`, "utf8"));
    const bytes = encode({ traces: [session, { ...session, sourceId: "other" }] });
    const split = await read(bytes);
    expect(split).toMatchObject({ traces: 2, messages: 2 * session.messages.length });
    expect(await readWhole(bytes)).toEqual(split);
    expect(await readStored(bytes)).toEqual(split);
  });
});

/** What a repeated key left out, and what was replaced, is told by the first reading alone. */
function withoutSanitized(result: Awaited<ReturnType<typeof read>>) {
  if (!("headers" in result)) return result;
  const rows = Buffer.from(result.rows ?? "", "base64");
  return result.headers?.map(({ sanitized: _, at, rowBytes, ...header }) => ({
    ...header,
    rows: rows.toString("base64", at, at + rowBytes),
  }));
}

test("a message is stored with all of its fields, whatever order they have, and a text without what can't be stored", async () => {
  const sent = `{"traces":[{"messages":[
    {"createdAt":"2026-11-20T09:00:00.123456+01:00","content":"\\u0000 \\ud800 é\\ud83d\\ude00","position":7},
    {"x":null,"metadata":{"z":1,"a":"\\u0000"},"role":"user","tokenCount":3,"position":2,"content":"a"}],"sourceId":"a"}]}`;
  const { headers = [], rows = "" } = (await read(Buffer.from(sent))) as { headers?: unknown[]; rows?: string };
  expect(headers).toMatchObject([
    { source: "unknown", sourceId: "a", messageCount: 2, firstPosition: 2, tokenCount: 3, sanitized: true },
  ]);
  const bytes = Buffer.from(rows, "base64");
  const first = readRow(bytes, 0);
  expect(first).toEqual({
    position: 2,
    role: "user",
    content: "a",
    tokenCount: 3,
    createdAt: null,
    metadata: '{"a":"\ufffd","x":null,"z":1}',
  });
});

test.each([
  ["a control character in a text", '{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\n"}]}]}'],
  ["an unknown escape", '{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\\x"}]}]}'],
  ["half an escape at the end", '{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\\'],
  ["an escape with other digits", '{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\\u00g0"}]}]}'],
  ["a number with a leading zero", '{"traces":[{"sourceId":"a","messages":[{"position":01,"content":""}]}]}'],
  ["a comma too many", '{"traces":[{"sourceId":"a","messages":[{"position":1,"content":"",}]}]}'],
  ["brackets that do not match", '{"traces":[{"sourceId":"a","metadata":{"x":[1}],"messages":[]}]}'],
  ["trailing bytes", '{"traces":[]}{}'],
  ["a byte order mark", '\ufeff{"traces":[]}'],
  ["a position twice", JSON.stringify(batch(message, message))],
  ["no position", JSON.stringify(batch({ content: "" }))],
  ["a position over the limit", JSON.stringify(batch({ ...message, position: 2_147_483_648 }))],
  ["a role over the limit", JSON.stringify(batch({ ...message, role: "x".repeat(33) }))],
  ["a day that does not exist", JSON.stringify(batch({ ...message, createdAt: "2026-02-30T00:00:00Z" }))],
  ["an hour that does not exist", JSON.stringify(batch({ ...message, createdAt: "2026-02-03T24:00:00Z" }))],
  ["a key in U+0000", JSON.stringify({ traces: [{ ...trace, sourceId: "\0" }] })],
  [
    "metadata of numbers that are long when they are written out",
    `{"traces":[{"sourceId":"a","metadata":{"x":[${"1e308,".repeat(900)}1]},"messages":[]}]}`,
  ],
  ["such numbers in a message", JSON.stringify(longNumbers(10, 900))],
  ["such numbers in two messages together", JSON.stringify(longNumbers(450, 450))],
  ["as many very small numbers", JSON.stringify(longNumbers(900)).replaceAll("1e+308", "1e-308")],
  [
    "nesting over the limit",
    `{"traces":[{"sourceId":"a","metadata":${"[".repeat(70)}${"]".repeat(70)},"messages":[]}]}`,
  ],
  [
    "too many traces",
    JSON.stringify({ traces: Array.from({ length: 1001 }, (_, n) => ({ sourceId: `${n}`, messages: [] })) }),
  ],
])("%s is refused, read trace by trace and whole", async (_, text) => {
  const split = await read(Buffer.from(text));
  expect(split).toHaveProperty("code");
  expect(await readWhole(Buffer.from(text))).toEqual(split);
});

test("of numbers that are long when they are written out the message that has most is told, of each trace", async () => {
  const [trace] = longNumbers(10, 900, 20).traces;
  const bytes = encode({ traces: [{ sourceId: "b", messages: [message] }, trace, { ...trace, sourceId: "c" }] });
  expect(await read(bytes)).toMatchObject({
    code: "invalid_request",
    errors: [1, 2].map((index) => ({
      path: `traces.${index}.messages.1.metadata`,
      message: expect.stringMatching(/too long without exponents/),
    })),
  });
});

test("a fault of a field is told before those of a trace as a whole, and what is no JSON before both", async () => {
  const faulty = { traces: [batch(message, message).traces[0], { ...trace, sourceId: 1 }, { ...trace, sourceId: 2 }] };
  const paths = ["traces.1.sourceId", "traces.2.sourceId"];
  expect(await read(encode(faulty))).toMatchObject({ errors: paths.map((path) => ({ path })) });
  const [first] = faulty.traces;
  expect(await read(encode({ traces: [first] }))).toMatchObject({ errors: [{ path: "traces.0.messages.1.position" }] });
  const broken = JSON.stringify(faulty).replace('"sourceId":2', '"sourceId":02');
  expect(await read(Buffer.from(broken))).toMatchObject({ code: "invalid_json" });
});

test.each([
  ["that stands twice", '"sourceId":"b",', '"role":"user"'],
  ["of a message that stands twice", "", '"content":"y"'],
  ["of metadata that stands twice", "", '"metadata":{"a":1,"a":2}'],
  ["__proto__", '"__proto__":{"x":1},', '"x":1'],
  ["__proto__ of a message", "", '"__proto__":[]'],
])("of a field %s only what counts is kept", async (_, fields, more) => {
  const bytes = Buffer.from(`{"traces":[{"sourceId":"a",${fields}"messages":[{"position":0,"content":"x",${more}}]}]}`);
  const kept = JSON.parse(bytes.toString());
  delete kept.traces[0].__proto__;
  const split = await read(bytes);
  expect(split).toHaveProperty("headers");
  expect(split).toEqual(await read(encode(kept)));
});

test("a trace's metadata over its limit is refused with its path", async () => {
  const sized = (bytes: number) => encode({ traces: [{ sourceId: "a", messages: [], cwd: "x".repeat(bytes) }] });
  expect(await read(sized(200_000))).toMatchObject({ traces: 1 });
  expect(await read(sized(300_000))).toMatchObject({ errors: [{ path: "traces.0.metadata" }] });
});

test("invalid UTF-8 is refused", async () => {
  const bytes = Buffer.from('{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\xff"}]}]}', "latin1");
  expect(await read(bytes)).toMatchObject({ code: "invalid_json" });
});

// With more of each, and measured, in tests/long/unit/read-batch.test.ts.
test("every truncation of a body with every kind of escape is refused", () => expectTruncationsRefused());

test("of many invalid messages only the first errors are reported", () => expectFirstErrors(20, 2000));

test("mutated batches are read the same trace by trace and whole", async () => {
  expect(await compareMutated(2500)).toBeGreaterThan(50);
});
