import { closeSync, createReadStream, openSync, readSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
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
  await letOthersRun();
  if (isSmall(path, offset)) return openSmall(path, offset);
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

/** So much is read in this thread: of thousands of small files most of the time would be waiting for the system's threads. */
const smallBytes = 256 * 1024;

/** Whether it is a file, and small; a pipe would block. @throws where it is missing or forbidden */
function isSmall(path: string, offset: number): boolean {
  const found = statSync(path);
  return found.isFile() && found.size - offset <= smallBytes;
}

function openSmall(path: string, offset: number): ByteReader {
  const file = openSync(path, "r");
  let position = offset;
  return {
    async fill(chunk) {
      const bytesRead = readSync(file, chunk, 0, chunk.length, position);
      position += bytesRead;
      return bytesRead;
    },
    close: async () => closeSync(file),
  };
}

const maxTurnMs = 10;
let turnedAt = 0;

/** Lets uploads and signals proceed, now and then: reading small files does not wait for anything. */
export async function letOthersRun(): Promise<void> {
  if (performance.now() - turnedAt < maxTurnMs) return;
  await setImmediate();
  turnedAt = performance.now();
}

/** The first 64 KiB of a file, read in this thread. @throws where it can't be read */
export const readBeginning = (path: string): string => readFirstBytes(path).toString();

/** The same in a buffer that the next call fills anew. @throws where it can't be read */
function readFirstBytes(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    return beginning.subarray(0, readSync(file, beginning, 0, beginning.length, 0));
  } finally {
    closeSync(file);
  }
}

const beginning = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * As `readFirstBytes`; empty for a file that can't be read, which parsing it reports, and for pipes, which would block.
 *
 * @param isFile whether it is known to be one
 */
export function readBeginningOrNothing(path: string, isFile = false): Buffer {
  try {
    return isFile || statSync(path).isFile() ? readFirstBytes(path) : Buffer.alloc(0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) return Buffer.alloc(0);
    throw error;
  }
}

const MiB = 1024 * 1024;
/** Bounds on what a compressed file may grow to: sessions grow to 5 to 50 times their size. */
const [maxRatio, maxBytes] = [200, 2048 * MiB];
/** Allowed whatever the ratio: a few thousand bytes may be most of a short session. More would let many small files do what one may not. */
const fewBytes = 4 * MiB;

/** Returns how many bytes may come out of compressed ones; more is made to keep the client busy. @param few always allowed */
export const maxDecompressed = (bytes: number, few: number, most = maxBytes): number =>
  Math.min(most, Math.max(few, maxRatio * bytes));

function openCompressed(path: string): ByteReader {
  const max = maxDecompressed(statSync(path).size, fewBytes);
  let read = 0;
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
          read += value.length;
          if (read > max) throw new Error(`it is compressed, and would be larger than ${Math.floor(max / MiB)} MiB`);
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
