import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { notPlain } from "#lib/ingest/decode/json-cursor";
import { type Manifest, readCarefully, readPlain, rowsOf } from "#lib/ingest/decode/manifest";
import { MessageRows } from "#lib/ingest/decode/message-rows";
import { pieces } from "../fuzz/bytes.ts";

const encoded = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

/** A batch's headers without offsets in the body, and the rows of its traces. */
function outcome(bytes: Uint8Array, { headers, traces, messages }: Manifest) {
  const rows = new MessageRows();
  const write = rowsOf(bytes, headers);
  return {
    headers: headers.map(({ at: _at, text: _text, ...header }) => header),
    rows: headers.map((_, index) => {
      write(index, 0, rows);
      return rows.bytes.toString("base64", 0, rows.end);
    }),
    traces,
    messages,
  };
}

function plain(bytes: Uint8Array): ReturnType<typeof outcome> | undefined {
  try {
    return outcome(bytes, readPlain(bytes));
  } catch (error) {
    if (error === notPlain) return undefined;
    throw error;
  }
}

function careful(bytes: Uint8Array): ReturnType<typeof outcome> | undefined {
  try {
    return outcome(bytes, readCarefully(bytes));
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^invalid_/) });
    return undefined;
  }
}

const message = { position: 0, content: "hello", role: "user", tokenCount: 3, createdAt: "2026-11-20T08:00:00.120Z" };
const trace = { sourceId: "a", source: "test", messages: [message] };
const batch = (...messages: unknown[]) => ({ traces: [{ ...trace, messages }] });

/** A batch of messages with so many numbers each that are long when they are written out. */
const longNumbers = (...counts: number[]) =>
  batch(...counts.map((count, position) => ({ ...message, position, metadata: { x: Array(count).fill(1e308) } })));

const plainBatches: Record<string, unknown> = {
  "no traces": { traces: [] },
  "a trace without messages": { traces: [{ sourceId: "a", messages: [] }] },
  "all fields of a message": batch(message),
  "a minimal message": batch({ position: 2_147_483_647, content: "" }),
  "fields in another order":
    '{"traces":[{"messages":[{"createdAt":"2026-02-28T23:59:59Z","content":"x","position":7}],"sourceId":"a"}]}',
  "white space wherever it is allowed":
    '\n{ "traces"\t:\r\n[ { "messages" : [ { "position" : 0 , "content" : "a" } ] , "sourceId" : "s" } ] } \n',
  "every escape": `{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83d\\ude00"}]}]}`,
  "raw text of two, three and four bytes": batch({ position: 0, content: "é€😀 \u2028" }),
  "characters that PostgreSQL cannot store": `{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\\u0000 \\ud800 \\udc00\\ud800 \\ud83d\\u0041"}]}]}`,
  "positions out of order": batch({ position: 5, content: "b" }, { position: 1, content: "a" }),
  "metadata, unknown fields and a null": {
    traces: [
      {
        ...trace,
        metadata: { b: [1], a: { c: null } },
        cwd: "/x",
        messages: [{ ...message, metadata: { z: 1, a: "\0" }, x: null }],
      },
    ],
  },
  "a repeated field, of which the last one counts":
    '{"traces":[{"sourceId":"a","sourceId":"b","messages":[{"position":0,"content":"x","content":"y","position":3}]}]}',
  "a __proto__ field":
    '{"traces":[{"sourceId":"a","__proto__":{"x":1},"messages":[{"position":0,"content":"","__proto__":[]}]}]}',
  "numbers in other forms": '{"traces":[{"sourceId":"a","messages":[{"position":-0,"content":""}]}]}',
  "a time with an offset and one with nine decimals": batch(
    { position: 0, content: "", createdAt: "2026-11-20T08:00:00+01:00" },
    { position: 1, content: "", createdAt: "2026-11-20T08:00:00.123456789Z" },
  ),
  "metadata of numbers of any size": { traces: [{ ...trace, metadata: { x: [1e308, 5e-324, -1e21, 1e20] } }] },
  "numbers in messages that gain what a trace's may": longNumbers(425, 425),
  "very many small numbers, written as they are measured": batch({
    ...message,
    metadata: { x: Array.from({ length: 50_000 }, (_, n) => -(n + 0.123456789012) / 1e12) },
  }),
  "a leap day": batch({ position: 0, content: "", createdAt: "2024-02-29T00:00:00Z" }),
  "a repeated key": { traces: [trace, { ...trace, title: "second" }] },
  "a long content with escapes across block boundaries": batch({ position: 0, content: '"\n😀x'.repeat(20_000) }),
  "a long role": batch({ position: 0, content: "", role: "é".repeat(32) }),
};

describe("the quick reading of a batch has the same result as the careful one", () => {
  test.each(Object.entries(plainBatches))("%s", (_, value) => {
    const bytes = encoded(value);
    expect(plain(bytes)).toEqual(careful(bytes));
    expect(plain(bytes)).toBeDefined();
  });

  test.each(readdirSync("tests/fixtures/sessions"))("%s", (name) => {
    const session = JSON.parse(readFileSync(`tests/fixtures/sessions/${name}`, "utf8"));
    const bytes = encoded({ traces: [session] });
    expect(plain(bytes)).toEqual(careful(bytes));
    expect(plain(bytes)).toBeDefined();
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
])("neither reading accepts %s", (_, text) => {
  const bytes = Buffer.from(text);
  expect(plain(bytes)).toBeUndefined();
  expect(careful(bytes)).toBeUndefined();
});

test("of numbers that are long when they are written out the message that has most is told, of each trace", () => {
  const [trace] = longNumbers(10, 900, 20).traces;
  const bytes = encoded({ traces: [{ sourceId: "b", messages: [message] }, trace, { ...trace, sourceId: "c" }] });
  expect(() => readCarefully(bytes)).toThrow(
    expect.objectContaining({
      code: "invalid_request",
      errors: [1, 2].map((index) => ({
        path: `traces.${index}.messages.1.metadata`,
        message: expect.stringMatching(/too long without their exponents/),
      })),
    }),
  );
});

test("invalid UTF-8 is not plain", () => {
  const bytes = Buffer.from('{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\xff"}]}]}', "latin1");
  expect(plain(bytes)).toBeUndefined();
  expect(careful(bytes)).toBeUndefined();
});

test("both readings refuse every truncation of a body with every kind of escape", () => {
  const escapes = '\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83d\\ude00\\u0000\\ud800\\udc00 é€😀';
  const text = `{"traces":[{"sourceId":"${escapes.replaceAll("\\u0000", "").replace("\\ud800\\udc00", "")}","title":"${escapes}",
    "metadata":{"${escapes}":["${escapes}",{"a":-1.5e3}]},"messages":[
    {"position":0,"content":"${escapes.repeat(2)}","role":"user","tokenCount":3,"createdAt":"2026-11-20T08:00:00.120Z"},
    {"metadata":{"x":"${escapes}"},"content":"${escapes}","position":1}]}]}`;
  const bytes = Buffer.from(text);
  expect(plain(bytes)).toBeDefined();
  expect(plain(bytes)).toEqual(careful(bytes));
  for (let length = 0; length < bytes.length; length += 1) {
    // A view, and a copy in its own memory: bytes after the end must not be read in either.
    for (const beginning of [bytes.subarray(0, length), Buffer.from(bytes.subarray(0, length))]) {
      const startedAt = performance.now();
      expect(plain(beginning), `${length} bytes`).toBeUndefined();
      expect(careful(beginning), `${length} bytes`).toBeUndefined();
      expect(performance.now() - startedAt).toBeLessThan(1000);
    }
  }
});

test("of millions of invalid messages only the first errors are reported", () => {
  const wrong = `{"sourceId":"a","messages":[${"0,".repeat(20_000)}0]}`;
  const bytes = Buffer.from(`{"traces":[${Array.from({ length: 200 }, () => wrong).join(",")}]}`);
  const startedAt = performance.now();
  expect(() => readCarefully(bytes)).toThrow(
    expect.objectContaining({
      errors: Array.from({ length: 20 }, (_, at) => expect.objectContaining({ path: `traces.0.messages.${at}` })),
    }),
  );
  expect(performance.now() - startedAt).toBeLessThan(5000);
});

test("the quick reading of 100,000 mutated batches never differs from the careful one", () => {
  let state = 20_261_120;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const inserted = [...pieces, '"content":"', '"position":0', "Z"];
  const sources = Object.values(plainBatches)
    .map(encoded)
    .filter(({ length }) => length < 2000);
  let read = 0;
  for (let n = 0; n < 100_000; n += 1) {
    let bytes = sources[random(sources.length)] as Buffer;
    for (let changes = random(3); changes >= 0; changes -= 1) {
      const at = random(bytes.length);
      const piece = random(4) ? Buffer.from(inserted[random(inserted.length)] as string) : Buffer.from([random(256)]);
      bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + random(3))]);
    }
    const quick = plain(bytes);
    if (!quick) continue;
    read += 1;
    expect(quick, bytes.toString("latin1")).toEqual(careful(bytes));
  }
  expect(read).toBeGreaterThan(1000);
}, 120_000);
