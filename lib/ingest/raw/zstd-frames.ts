import { createZstdDecompress } from "node:zlib";
import { zstdParams } from "#lib/ingest/decode/inflate";

/**
 * Node's own stream ends after a frame that ends inside a chunk, and a stream may have several (RFC 8878, section 3).
 * @throws if the stream is truncated, corrupt, or needs a window over 8 MiB
 */
export async function* inflateFrames(compressed: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const source = compressed[Symbol.asyncIterator]();
  for (let chunk = await readChunk(source); chunk; ) {
    const decoder = createZstdDecompress({ params: zstdParams });
    let fedBytes = 0;
    const feed = async () => {
      for (; chunk; chunk = await readChunk(source)) {
        fedBytes += chunk.byteLength;
        await new Promise((resolve) => decoder.write(chunk, resolve));
        if (decoder.destroyed || decoder.bytesWritten < fedBytes) return; // the rest belongs to the next frame
      }
      decoder.end();
    };
    const feeding = feed().catch((error) => decoder.destroy(error));
    yield* decoder as AsyncIterable<Buffer>;
    await feeding;
    chunk = chunk?.subarray(chunk.byteLength - (fedBytes - decoder.bytesWritten));
  }
}

async function readChunk(source: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  for (;;) {
    const { done, value } = await source.next();
    if (done) return undefined;
    if (value.byteLength > 0) return value;
  }
}
