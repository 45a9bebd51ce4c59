import { randomBytes } from "node:crypto";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { inflate } from "#lib/ingest/decode/inflate";
import { parseTraces } from "#lib/ingest/decode/traces";

const text = Buffer.from(JSON.stringify({ traces: [{ sourceId: "a", messages: [] }] }).padEnd(5000));
const compress = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync } as const;
const cap = 1_000_000;

describe.each(["gzip", "br", "zstd"] as const)("a %s body", (encoding) => {
  const body = compress[encoding](text);
  const refusal = expect.objectContaining({ code: "invalid_request" });

  test("is decoded to the original bytes", () => {
    expect(Buffer.from(inflate(body, encoding, cap)).equals(text)).toBe(true);
  });

  test("may be exactly as large as the limit, but not one byte larger", () => {
    expect(inflate(body, encoding, text.length).byteLength).toBe(text.length);
    expect(() => inflate(body, encoding, text.length - 1)).toThrow(
      expect.objectContaining({ code: "payload_too_large" }),
    );
  });

  test.each([1, 4, 12])("that lacks its last %i bytes is refused", (bytes) => {
    expect(() => inflate(body.subarray(0, -bytes), encoding, cap)).toThrow(refusal);
  });

  test.each(["junk", "\0\0\0\0"])("with %j after its end is refused", (junk) => {
    expect(() => inflate(Buffer.concat([body, Buffer.from(junk)]), encoding, cap)).toThrow(refusal);
  });

  test("that is empty, or not of this encoding, is refused", () => {
    expect(() => inflate(Buffer.alloc(0), encoding, cap)).toThrow(refusal);
    expect(() => inflate(text, encoding, cap)).toThrow(refusal);
  });
});

test("a gzip stream of several members is one body, whatever size the last one states", () => {
  const members = [text, Buffer.alloc(200_000, "long"), Buffer.from("!")];
  const body = Buffer.concat(members.map((member) => gzipSync(member)));
  expect(Buffer.from(inflate(body, "gzip", cap)).equals(Buffer.concat(members))).toBe(true);
});

test.each([0, 1, 0xffffffff])("a gzip stream that states %i bytes but has another size is refused", (bytes) => {
  const body = gzipSync(text);
  body.writeUInt32LE(bytes, body.length - 4);
  expect(() => inflate(body, "gzip", cap)).toThrow(expect.objectContaining({ code: "invalid_request" }));
});

test("a zstd stream of several frames is one body, with one limit", () => {
  const half = zstdCompressSync(text);
  expect(inflate(Buffer.concat([half, half]), "zstd", 10_000).byteLength).toBe(10_000);
  expect(() => inflate(Buffer.concat([half, half]), "zstd", 9_999)).toThrow(
    expect.objectContaining({ code: "payload_too_large" }),
  );
  const more = Buffer.concat([half, zstdCompressSync("1")]);
  expect(() => inflate(more, "zstd", 5_000)).toThrow(expect.objectContaining({ code: "payload_too_large" }));
});

test.each(["28", "28b52f", "50", "502a4d18", "502a4d180900000000"])(
  "a zstd stream with the beginning of a frame, %s, after its end is refused",
  (hex) => {
    const body = Buffer.concat([zstdCompressSync(text), Buffer.from(hex, "hex")]);
    expect(() => inflate(body, "zstd", cap)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  },
);

test("a zstd stream may have skippable frames, and frames of every form", () => {
  const { ZSTD_c_checksumFlag, ZSTD_c_contentSizeFlag } = constants;
  const skippable = Buffer.from("5f2a4d1803000000616263", "hex");
  const contents = [text, Buffer.alloc(300_000, "a"), randomBytes(300_000), Buffer.alloc(0)];
  const forms = [0, 1].flatMap((checksum) => [0, 1].map((size) => [checksum, size] as const));
  const frames = contents.flatMap((content) =>
    forms.map(([checksum, size]) =>
      zstdCompressSync(content, { params: { [ZSTD_c_checksumFlag]: checksum, [ZSTD_c_contentSizeFlag]: size } }),
    ),
  );
  const body = Buffer.concat(frames.flatMap((frame) => [skippable, frame]));
  const content = Buffer.concat(contents.flatMap((one) => forms.map(() => one)));
  expect(content.equals(inflate(body, "zstd", content.length))).toBe(true);
});

test("a zstd stream of very many empty frames is refused quickly", () => {
  const frame = zstdCompressSync(Buffer.alloc(0));
  const many = Buffer.concat(Array.from({ length: 100_000 }, () => frame));
  expect(() => inflate(many, "zstd", cap)).toThrow(expect.objectContaining({ code: "invalid_request" }));
});

test("a zstd stream of more frames than a caller takes is told from one that nobody takes", () => {
  const body = Buffer.concat(Array(9).fill(zstdCompressSync(text)));
  expect(inflate(body, "zstd", cap * 9).byteLength).toBe(text.length * 9);
  const take = (maxFrames: number) => () => inflate(body, "zstd", cap * 9, { maxFrames });
  expect(take(9)().byteLength).toBe(text.length * 9);
  expect(take(8)).toThrow(expect.objectContaining({ code: "payload_too_large" }));
});

test("a zstd window over 8 MiB is refused", () => {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 };
  const body = zstdCompressSync(Buffer.alloc(20_000_000, "ab"), { params });
  expect(() => inflate(body, "zstd", 100_000_000)).toThrow(expect.objectContaining({ code: "invalid_request" }));
});

describe("parsing", () => {
  const parse = (body: string | Buffer) => () => [...parseTraces(Buffer.from(body))];

  test("refuses what is not JSON in UTF-8, without quoting it", () => {
    const json = expect.objectContaining({ code: "invalid_json", message: "The body is not valid JSON in UTF-8." });
    expect(parse('{"traces":[secret')).toThrow(json);
    expect(parse(Buffer.from([0x22, 0xff, 0x22]))).toThrow(json);
    expect(parse("\ufeff{}")).toThrow(json);
    expect(parse("")).toThrow(json);
  });

  test("refuses a million levels without overflowing the stack", () => {
    const deep = `{"traces":[],"x":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`;
    expect(parse(deep)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  test("accepts 64 levels and refuses 65", () => {
    const nested = (levels: number) => `{"traces":[],"x":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(parse(nested(64))()).toEqual([]);
    expect(parse(nested(65))).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  test("refuses millions of empty values", () => {
    expect(parse(`{"traces":[],"x":[${"{},".repeat(5_100_000)}0]}`)).toThrow(
      expect.objectContaining({ code: "invalid_request" }),
    );
  });

  test("does not count brackets and commas inside strings", () => {
    const text = JSON.stringify('[{,"\\'.repeat(1_500_000));
    expect(parse(`{"traces":[{"sourceId":"a","messages":[{"position":0,"content":${text}}]}]}`)()).toHaveLength(1);
  });
});
