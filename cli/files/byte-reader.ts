import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import zlib from "node:zlib";

/** A file's bytes, front to back. */
export type ByteReader = {
  /** Fills a chunk with what comes next. Less than the whole of it is the end. @returns how many bytes */
  fill(chunk: Buffer): Promise<number>;
  close(): Promise<void>;
};

/** Whether files in zstd can be read: Node has it since 22.15. Looked up when it is needed, for an older one has no such name. */
export const supportsZstd = (): boolean => typeof zlib.createZstdDecompress === "function";

/** Opens a file; one whose name ends with `.zst` is decompressed on the way. @throws where it can't be read */
export async function openByteReader(path: string): Promise<ByteReader> {
  if (path.endsWith(".zst")) return unpacked(path);
  const file = await open(path, "r");
  return {
    fill: async (chunk) => (await file.read(chunk, 0, chunk.length, null)).bytesRead,
    close: () => file.close(),
  };
}

function unpacked(path: string): ByteReader {
  const packed = createReadStream(path);
  const plain = zlib.createZstdDecompress();
  packed.on("error", (error) => plain.destroy(error)).pipe(plain);
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
      packed.destroy();
      plain.destroy();
    },
  };
}
