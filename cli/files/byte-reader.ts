import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import zlib from "node:zlib";

/** A file's bytes, read sequentially. */
export type ByteReader = {
  /** Fills a chunk with the next bytes; fewer than its length at the end of the file. @returns how many bytes */
  fill(chunk: Buffer): Promise<number>;
  close(): Promise<void>;
};

/** Whether zstd files can be read: Node 22.15 and later. */
export const supportsZstd = (): boolean => typeof zlib.createZstdDecompress === "function";

/** Opens a file; one named `.zst` is decompressed, and read from its beginning. @throws where it can't be read */
export async function openByteReader(path: string, offset = 0): Promise<ByteReader> {
  if (path.endsWith(".zst")) return openCompressed(path);
  const file = await open(path, "r");
  // A pipe has no positions.
  let position = offset > 0 ? offset : null;
  return {
    async fill(chunk) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
      if (position !== null) position += bytesRead;
      return bytesRead;
    },
    close: () => file.close(),
  };
}

function openCompressed(path: string): ByteReader {
  const compressed = createReadStream(path);
  const plain = zlib.createZstdDecompress();
  compressed.on("error", (error) => plain.destroy(error)).pipe(plain);
  const parts: AsyncIterator<Buffer> = plain[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return {
    async fill(chunk) {
      let filled = 0;
      while (filled < chunk.length) {
        if (rest.length === 0) {
          const { value, done } = await parts.next();
          if (done) break;
          rest = value;
        }
        const copied = rest.copy(chunk, filled);
        rest = rest.subarray(copied);
        filled += copied;
      }
      return filled;
    },
    async close() {
      compressed.destroy();
      plain.destroy();
    },
  };
}
