import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import type { Random } from "./random.ts";

/** Pieces of JSON, whole and broken, that are put where they do not belong. */
export const pieces = [
  '"',
  "\\",
  "\\u",
  "\\ud83d",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "0",
  "-",
  "1e3",
  ".5",
  "null",
  " ",
  "\n",
  "\0",
  "\u00e9",
];
const notUtf8 = ["ff", "c0af", "eda080", "f4908080", "80", "e282", "efbbbf"].map((hex) => Buffer.from(hex, "hex"));

/** Changes bytes at random: flipped, cut, inserted, repeated, moved, or made invalid UTF-8. */
export function mutateBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, at + 1 + random.below(random.pick([2, 8, 200])));
  const [before, cut, after] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)];
  const elsewhere = random.below(bytes.length + 1);
  return random.pick([
    () => Buffer.concat([before, Buffer.from(cut.map((byte) => byte ^ (1 << random.below(8)))), after]),
    () => Buffer.concat([before, after]),
    () => before,
    () => after,
    () => Buffer.concat([before, Buffer.from(random.pick(pieces)), cut, after]),
    () => Buffer.concat([before, random.bytes(1 + random.below(8)), cut, after]),
    () => Buffer.concat([before, cut, cut, after]),
    () => Buffer.concat([bytes.subarray(0, elsewhere), cut, bytes.subarray(elsewhere)]),
    () => Buffer.concat([before, random.pick(notUtf8), after]),
    () => Buffer.concat([before, Buffer.alloc(to - at), after]),
  ])();
}

const encoders = {
  gzip: (bytes: Uint8Array) => gzipSync(bytes, { level: 1 }),
  br: (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: (bytes: Uint8Array) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
} as const;
type Packing = keyof typeof encoders;
const packings = Object.keys(encoders) as Packing[];

/** Skippable frames of a zstd stream (RFC 8878, section 3.1.2). */
function skippable(random: Random): Buffer {
  const content = random.bytes(random.below(20));
  const head = Buffer.alloc(8);
  head.writeUInt32LE(0x184d2a50 + random.below(16), 0);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

/** A Content-Encoding and the bytes. `sound` says that they are the body, correctly encoded. */
export type Packed = { encoding: string | undefined; body: Buffer; sound: boolean };

/** A body encoded in one of many ways, most of them invalid. */
export function pack(bytes: Buffer, random: Random): Packed {
  const name = random.pick(packings);
  const encode = encoders[name];
  const whole = encode(bytes);
  const half = random.below(bytes.length + 1);
  const wrong = (body: Buffer, encoding: string | undefined = name) => ({ encoding, body, sound: false });
  return random.pick<() => Packed>([
    () => ({ encoding: name, body: whole, sound: true }),
    () => ({ encoding: random.pick([name.toUpperCase(), ` ${name} `]), body: whole, sound: true }),
    () => ({ encoding: random.pick(["identity", ""]), body: bytes, sound: true }),
    () => {
      const two = Buffer.concat([encode(bytes.subarray(0, half)), encode(bytes.subarray(half))]);
      return { encoding: name, body: two, sound: name !== "br" };
    },
    () => ({
      encoding: "zstd",
      body: Buffer.concat([skippable(random), encoders.zstd(bytes), skippable(random)]),
      sound: true,
    }),
    () => wrong(whole.subarray(0, random.below(whole.length))),
    () => wrong(mutateBytes(whole, random)),
    () => wrong(Buffer.concat([whole, random.bytes(1 + random.below(30))])),
    () => wrong(encode(whole)),
    () => wrong(encode(whole), `${name}, ${name}`),
    () => wrong(whole, random.pick(packings)),
    () => wrong(whole, random.pick(["deflate", "compress", "x", "gzip;q=1", "*", "gzip,", "\u00ff", "aws-chunked"])),
    () => wrong(bytes),
    () =>
      wrong(encode(Buffer.alloc(random.pick([1 << 10, 1 << 16, 1 << 20, 4 << 20]), random.pick([" ", "[", '"', "0"])))),
    () => wrong(Buffer.concat(Array.from({ length: 1 + random.below(1100) }, () => skippable(random))), "zstd"),
    () => wrong(Buffer.concat(Array.from({ length: 1 + random.below(1100) }, () => encode(Buffer.alloc(0))))),
    () => wrong(random.bytes(random.below(300))),
  ])();
}
