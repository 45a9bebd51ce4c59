import { createHash, randomBytes } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";

/** A picture as a client sends it, with its reference in a message. */
export type Sample = { bytes: Buffer<ArrayBuffer>; sha256: string; mediaType: string };

export const makeSample = (bytes: Buffer<ArrayBuffer>, mediaType = "image/png"): Sample => ({
  bytes,
  mediaType,
  sha256: createHash("sha256").update(bytes).digest("hex"),
});

/** Makes a valid PNG of one colour, different each time. */
export function makePng({
  width = 8,
  height = 8,
  color = [...randomBytes(3)],
  /** Number of bytes to add. */
  extra = 0,
  /** A false height for the header. */
  told = undefined as number | undefined,
} = {}): Sample {
  const row = Buffer.concat([Buffer.from([0]), Buffer.concat(Array.from({ length: width }, () => Buffer.from(color)))]);
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(told ?? height, 4);
  size.set([8, 2, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const chunks = [chunk("IHDR", size), chunk("tEXt", randomBytes(16 + extra)), chunk("IDAT", rows), chunk("IEND")];
  return makeSample(Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...chunks]));
}

function chunk(type: string, data: Uint8Array = new Uint8Array()): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, sum]);
}

/** Makes a message's metadata with references to pictures. */
export const naming = (...pictures: Sample[]) => ({
  pictures: pictures.map(({ sha256, mediaType, bytes }) => ({ sha256, mediaType, bytes: bytes.length })),
});

/** Formats a picture's placeholder in a message's text. */
export const makePlaceholder = ({ mediaType, bytes }: Sample): string =>
  `[image: ${mediaType}, ${Math.ceil(bytes.length / 1024)} KiB]`;
