import { pipeline, Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { zstdParams } from "#lib/ingest/decode/inflate";

/**
 * Inflates a zstd stream in constant memory. Node's own stream ends after the first frame, and a stream may have
 * several (RFC 8878, section 3).
 * @throws if the stream is truncated, corrupt, or needs a window over 8 MiB
 */
export async function* inflateFrames(compressed: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const source = new Source(compressed);
  while (await source.more()) {
    const decoder = createZstdDecompress({ params: zstdParams });
    // The loop below throws an error of either side.
    pipeline(Readable.from(readFrame(source)), decoder, () => {});
    yield* decoder as AsyncIterable<Buffer>;
  }
}

const magic = 0xfd2fb528;
/** By their two-bit flags (RFC 8878, section 3.1.1.1.1). */
const contentSizeBytes = [0, 2, 4, 8] as const;
const dictionaryIdBytes = [0, 1, 2, 4] as const;
const blockTypes = { rle: 1, reserved: 3 } as const;

/** RFC 8878, section 3.1.1. */
async function* readFrame(source: Source): AsyncGenerator<Uint8Array> {
  const start = await source.take(4);
  const signature = start.readUInt32LE();
  yield start;
  if (signature >>> 4 === 0x184d2a5) return yield* readSkippable(source);
  if (signature !== magic) throw new Error("not a zstd frame");
  const descriptor = await source.take(1);
  yield descriptor;
  const flags = descriptor.readUInt8();
  const isSingleSegment = (flags & 0x20) !== 0;
  const hasChecksum = (flags & 0x04) !== 0;
  const sizeBytes = contentSizeBytes[(flags >> 6) as 0 | 1 | 2 | 3] || (isSingleSegment ? 1 : 0);
  yield await source.take((isSingleSegment ? 0 : 1) + dictionaryIdBytes[(flags & 0x03) as 0 | 1 | 2 | 3] + sizeBytes);
  for (let isLast = false; !isLast; ) {
    const header = await source.take(3);
    const bits = header.readUIntLE(0, 3);
    const type = (bits >> 1) & 0x03;
    if (type === blockTypes.reserved) throw new Error("a zstd block of a reserved type");
    isLast = (bits & 1) === 1;
    yield header;
    yield* source.pass(type === blockTypes.rle ? 1 : bits >> 3);
  }
  if (hasChecksum) yield await source.take(4);
}

/** RFC 8878, section 3.1.2. */
async function* readSkippable(source: Source): AsyncGenerator<Uint8Array> {
  const size = await source.take(4);
  yield size;
  yield* source.pass(size.readUInt32LE());
}

class Source {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async more(): Promise<boolean> {
    while (this.#chunk.byteLength === 0) {
      const next = await this.#chunks.next();
      if (next.done) return false;
      this.#chunk = next.value;
    }
    return true;
  }

  /** @throws if there are fewer bytes */
  async *pass(bytes: number): AsyncGenerator<Uint8Array> {
    for (let left = bytes; left > 0; ) {
      if (!(await this.more())) throw new Error("the zstd stream is truncated");
      const part = this.#chunk.subarray(0, left);
      this.#chunk = this.#chunk.subarray(part.byteLength);
      left -= part.byteLength;
      yield part;
    }
  }

  async take(bytes: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of this.pass(bytes)) parts.push(part);
    return Buffer.concat(parts);
  }
}
