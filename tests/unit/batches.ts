// Batches, read quickly and carefully.
import { expect } from "vitest";
import { notPlain } from "#lib/ingest/decode/json-cursor";
import { type Manifest, readCarefully, readPlain, rowsOf } from "#lib/ingest/decode/manifest";
import { MessageRows } from "#lib/ingest/decode/message-rows";
import { pieces } from "../fuzz/bytes.ts";

/** A batch as it is sent. */
export const encoded = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

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

/** What the quick reading makes of a body; undefined where it leaves that to the careful one. */
export function plain(bytes: Uint8Array): ReturnType<typeof outcome> | undefined {
  try {
    return outcome(bytes, readPlain(bytes));
  } catch (error) {
    if (error === notPlain) return undefined;
    throw error;
  }
}

/** What the careful reading makes of a body; undefined where it refuses that. */
export function careful(bytes: Uint8Array): ReturnType<typeof outcome> | undefined {
  try {
    return outcome(bytes, readCarefully(bytes));
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^invalid_/) });
    return undefined;
  }
}

export const message = {
  position: 0,
  content: "hello",
  role: "user",
  tokenCount: 3,
  createdAt: "2026-11-20T08:00:00.120Z",
};
export const trace = { sourceId: "a", source: "test", messages: [message] };
export const batch = (...messages: unknown[]) => ({ traces: [{ ...trace, messages }] });

/** A batch of messages with so many numbers each that are long when they are written out. */
export const longNumbers = (...counts: number[]) =>
  batch(...counts.map((count, position) => ({ ...message, position, metadata: { x: Array(count).fill(1e308) } })));

/** Batches that the quick reading takes. */
export const plainBatches: Record<string, unknown> = {
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

/** Reads each beginning of a body with every kind of escape. @param each is called for each, with what reads it */
export function expectTruncationsRefused(each = (read: () => void) => read()): void {
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
      each(() => {
        expect(plain(beginning), `${length} bytes`).toBeUndefined();
        expect(careful(beginning), `${length} bytes`).toBeUndefined();
      });
    }
  }
}

/** Reads batches of so many invalid messages each. */
export function expectFirstErrors(traces: number, messages: number): void {
  const wrong = `{"sourceId":"a","messages":[${"0,".repeat(messages)}0]}`;
  const bytes = Buffer.from(`{"traces":[${Array.from({ length: traces }, () => wrong).join(",")}]}`);
  expect(() => readCarefully(bytes)).toThrow(
    expect.objectContaining({
      errors: Array.from({ length: 20 }, (_, at) => expect.objectContaining({ path: `traces.0.messages.${at}` })),
    }),
  );
}

/** Mutates batches, and reads those that are still ones quickly and carefully. @returns how many were */
export function compareMutated(count: number): number {
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
  for (let n = 0; n < count; n += 1) {
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
  return read;
}
