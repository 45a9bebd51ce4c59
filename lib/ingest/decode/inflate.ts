import { kMaxLength } from "node:buffer";
import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from "node:zlib";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";

export const encodings = ["identity", "gzip", "br", "zstd"] as const;
export type Encoding = (typeof encodings)[number];

/**
 * @param known `expected` sizes the first output buffer; `maxFrames` bounds the time, 40 µs per frame
 */
export function inflate(
  body: Uint8Array,
  encoding: Encoding,
  maxBytes: number,
  { expected, maxFrames = maxZstdFrames }: { expected?: number | undefined; maxFrames?: number } = {},
): Uint8Array {
  if (encoding === "identity") {
    if (body.byteLength > maxBytes) throw tooLarge(maxBytes);
    return body;
  }
  const parts: Uint8Array[] = [];
  let room = maxBytes;
  let rest = body;
  let frames = 0;
  try {
    do {
      const chunkSize = frames === 0 ? (expected ?? firstChunkBytes(body, encoding, maxBytes)) : undefined;
      const next = encoding === "zstd" ? rest.subarray(0, endOfFrame(rest)) : rest;
      const { buffer, engine } = decoders[encoding](next, {
        maxOutputLength: Math.max(1, room),
        info: true,
        chunkSize,
      });
      rest = rest.subarray(engine.bytesWritten);
      room -= buffer.byteLength;
      if (room < 0) throw tooLarge(maxBytes); // Node takes no limit of 0, and a frame may be empty
      frames += 1;
      if (buffer.byteLength > 0) parts.push(buffer);
    } while (rest.byteLength > 0 && encoding === "zstd" && frames < maxFrames);
  } catch (error) {
    if (error instanceof SpoorError) throw error;
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
    throw corrupt(encoding);
  }
  if (rest.byteLength > 0)
    throw encoding === "zstd" && maxFrames < maxZstdFrames ? tooLarge(maxBytes) : corrupt(encoding);
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

export function inflateFrame(stream: Uint8Array): { bytes: Uint8Array; rest: Uint8Array } {
  try {
    const end = endOfFrame(stream);
    return { bytes: inflate(stream.subarray(0, end), "zstd", kMaxLength), rest: stream.subarray(end) };
  } catch (error) {
    throw error instanceof RangeError ? corrupt("zstd") : error;
  }
}

const dictionaryIdBytes = [0, 1, 2, 4];
const contentSizeBytes = [0, 2, 4, 8];

/**
 * A stream may have several frames (RFC 8878, section 3.1). Node before 24.22 decodes only the first; later versions
 * decode all, even if the last is cut off.
 *
 * @throws RangeError if the frame is cut off
 */
function endOfFrame(stream: Uint8Array): number {
  const bytes = Buffer.from(stream.buffer, stream.byteOffset, stream.byteLength);
  if (bytes.readUInt32LE() >>> 4 === skippableMagic) return 8 + bytes.readUInt32LE(4);
  const flags = bytes.readUInt8(4);
  const isSingleSegment = (flags & 0x20) !== 0;
  const sizeBytes = contentSizeBytes[flags >> 6] || (isSingleSegment ? 1 : 0);
  let end = 5 + (isSingleSegment ? 0 : 1) + (dictionaryIdBytes[flags & 0x03] ?? 0) + sizeBytes;
  for (let isLast = false; !isLast; ) {
    const block = bytes.readUIntLE(end, 3);
    const isRepeatedByte = ((block >> 1) & 0x03) === 1;
    isLast = (block & 1) === 1;
    end += 3 + (isRepeatedByte ? 1 : block >> 3);
  }
  return end + ((flags & 0x04) === 0 ? 0 : 4);
}

const skippableMagic = 0x184d2a5;

/**
 * Node's default of 16 KiB makes joining slower than inflating. A gzip stream ends with its decoded size (RFC 1952,
 * section 2.3.1).
 */
function firstChunkBytes(body: Uint8Array, encoding: Encoding, maxBytes: number): number {
  const usual = Math.min(4 << 20, Math.max(16 << 10, body.byteLength * 4));
  if (encoding !== "gzip" || body.byteLength < 18) return usual;
  const stated = new DataView(body.buffer, body.byteOffset).getUint32(body.byteLength - 4, true) + 1;
  return stated > maxBytes || stated > body.byteLength * maxDeflateRatio ? usual : Math.max(usual, stated);
}

const maxDeflateRatio = 1032;

const { maxZstdFrames, maxZstdWindowBytes } = limits.ingest;

/** These refuse larger windows. */
export const zstdParams = { [constants.ZSTD_d_windowLogMax]: Math.log2(maxZstdWindowBytes) };

type Inflated = { buffer: Uint8Array; engine: { bytesWritten: number } };
type InflateOptions = { maxOutputLength: number; info: true; chunkSize: number | undefined };
type Inflate = (body: Uint8Array, options: InflateOptions) => Inflated;

const decoders: Record<Exclude<Encoding, "identity">, Inflate> = {
  gzip: (body, options) => gunzipSync(body, options) as unknown as Inflated,
  br: (body, options) => brotliDecompressSync(body, options) as unknown as Inflated,
  zstd: (body, options) => zstdDecompressSync(body, { ...options, params: zstdParams }) as unknown as Inflated,
};

const corrupt = (encoding: string) =>
  new SpoorError("invalid_request", `The body is not exactly one complete ${encoding} stream.`);

const tooLarge = (maxBytes: number) =>
  new SpoorError("payload_too_large", `The decoded body is over the limit of ${maxBytes} bytes.`);
