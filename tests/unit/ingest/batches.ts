// Batches, read trace by trace and whole.
import { expect } from "vitest";
import type { SpoorError } from "#lib/core/errors";
import { convertToJson } from "#lib/ingest/decode/as-json";
import { inflate } from "#lib/ingest/decode/inflate";
import { packManifest } from "#lib/ingest/decode/manifest";
import { Packing } from "#lib/ingest/decode/packing";
import { readBatch } from "#lib/ingest/decode/read-batch";
import { pieces } from "../../fuzz/bytes.ts";

/** A batch as it is sent. */
export const encode = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

/** Reads a batch without masking it. @returns its headers and rows, or the error that it is refused with */
export async function read(bytes: Uint8Array) {
  const kept: Buffer[] = [];
  try {
    const { headers, traces, messages } = await readBatch(bytes, undefined, (rows) => kept.push(rows));
    return { headers, traces, messages, rows: Buffer.concat(kept).toString("base64") };
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^invalid_/) });
    const { code, message, errors } = error as SpoorError;
    return { code, message, errors };
  }
}

/** Reads a batch whole: a field before the traces keeps it from being split. */
export const readWhole = (bytes: Uint8Array) =>
  read(Buffer.from(Buffer.from(bytes).toString("latin1").replace("{", '{"more":1,'), "latin1"));

/** Reads a batch as it is written once it was stored. */
export async function readStored(bytes: Uint8Array) {
  const packing = new Packing();
  const { headers } = await readBatch(bytes, undefined, (rows) => packing.add(rows));
  const stored = Buffer.concat([packManifest({ headers, stamp: "" }), await packing.end()]);
  const parts: Uint8Array[] = [];
  for await (const part of convertToJson([inflate(stored, "zstd", 2 ** 30)])) parts.push(part);
  return read(Buffer.concat(parts));
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

/** Batches that are valid. */
export const validBatches: Record<string, unknown> = {
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
export async function expectTruncationsRefused(each = (run: () => Promise<void>) => run()): Promise<void> {
  const escapes = '\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83d\\ude00\\u0000\\ud800\\udc00 é€😀';
  const text = `{"traces":[{"sourceId":"${escapes.replaceAll("\\u0000", "").replace("\\ud800\\udc00", "")}","title":"${escapes}",
    "metadata":{"${escapes}":["${escapes}",{"a":-1.5e3}]},"messages":[
    {"position":0,"content":"${escapes.repeat(2)}","role":"user","tokenCount":3,"createdAt":"2026-11-20T08:00:00.120Z"},
    {"metadata":{"x":"${escapes}"},"content":"${escapes}","position":1}]}]}`;
  const bytes = Buffer.from(text);
  expect(await read(bytes)).toMatchObject({ traces: 1, messages: 2 });
  for (let length = 0; length < bytes.length; length += 1) {
    // A view, and a copy in its own memory: bytes after the end must not be read in either.
    for (const beginning of [bytes.subarray(0, length), Buffer.from(bytes.subarray(0, length))]) {
      await each(async () => expect(await read(beginning), `${length} bytes`).toMatchObject({ code: "invalid_json" }));
    }
  }
}

/** Reads batches of so many invalid messages each. */
export async function expectFirstErrors(traces: number, messages: number): Promise<void> {
  const wrong = `{"sourceId":"a","messages":[${"0,".repeat(messages)}0]}`;
  const bytes = Buffer.from(`{"traces":[${Array.from({ length: traces }, () => wrong).join(",")}]}`);
  expect(await read(bytes)).toMatchObject({
    code: "invalid_request",
    errors: Array.from({ length: 20 }, (_, at) => ({ path: `traces.0.messages.${at}` })),
  });
}

/** Mutates batches, and compares how they are read. @returns how many were valid still */
export async function compareMutated(count: number): Promise<number> {
  let state = 20_261_120;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const inserted = [...pieces, '"content":"', '"position":0', "Z"];
  const sources = Object.values(validBatches)
    .map(encode)
    .filter(({ length }) => length < 2000);
  let valid = 0;
  for (let n = 0; n < count; n += 1) {
    let bytes = sources[random(sources.length)] as Buffer;
    for (let changes = random(3); changes >= 0; changes -= 1) {
      const at = random(bytes.length);
      const piece = random(4) ? Buffer.from(inserted[random(inserted.length)] as string) : Buffer.from([random(256)]);
      bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + random(3))]);
    }
    const split = await read(bytes);
    // What stands before the first brace, or makes it another one, is not the same batch with a field more.
    if (/^\s*\{\s*"traces"/.test(bytes.toString("latin1"))) {
      expect(split, bytes.toString("latin1")).toEqual(await readWhole(bytes));
    }
    if (!("headers" in split)) continue;
    valid += 1;
  }
  return valid;
}
