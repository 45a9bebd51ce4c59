import { closeSync, constants, createReadStream, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import zlib from "node:zlib";

export type ByteReader = {
  /** Fills a chunk, except at the end of the file. @returns the number of bytes */
  fill(chunk: Buffer): Promise<number>;
  close(): Promise<void>;
};

/** Node decompresses zstd since 22.15. */
export const supportsZstd = (): boolean => typeof zlib.createZstdDecompress === "function";

/**
 * A `.zst` is always read from its beginning.
 *
 * @throws if it can't be read
 */
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

/** For small files, waiting for the thread pool would take most of the time. */
const smallBytes = 256 * 1024;

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

/** Lets uploads and signals proceed, because reading small files never yields. */
export async function letOthersRun(): Promise<void> {
  if (performance.now() - turnedAt < maxTurnMs) return;
  await setImmediate();
  turnedAt = performance.now();
}

export const readBeginning = (path: string): string => readFirstBytes(path).toString();

function readFirstBytes(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    return beginning.subarray(0, readSync(file, beginning, 0, beginning.length, 0));
  } finally {
    closeSync(file);
  }
}

const beginning = Buffer.allocUnsafeSlow(64 * 1024);

/** Returns an empty buffer for unreadable files, which parsing reports, and for pipes, which would block. */
export function readBeginningOrNothing(path: string, isFile = false): Buffer {
  try {
    return isFile || statSync(path).isFile() ? readFirstBytes(path) : Buffer.alloc(0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) return Buffer.alloc(0);
    throw error;
  }
}

const MiB = 1024 * 1024;
/** Sessions decompress to 5 to 50 times their size; more is an attack. */
const [maxRatio, maxBytes] = [200, 2048 * MiB];
/** Allowed at any ratio, because a short session may compress very well. */
const fewBytes = 4 * MiB;

/** Returns how many bytes may be decompressed. @param few is allowed at any ratio */
export const maxDecompressed = (bytes: number, few: number, most = maxBytes): number =>
  Math.min(most, Math.max(few, maxRatio * bytes));

/** Node before 24.22 ends after a frame, and a file may have several (RFC 8878, section 3). */
function openCompressed(path: string): ByteReader {
  const { size } = statSync(path);
  const max = maxDecompressed(size, fewBytes);
  let [start, read] = [0, 0];
  let frames = openFrames(path, start);
  let rest: Buffer = Buffer.alloc(0);
  return {
    async fill(chunk) {
      let filled = 0;
      while (filled < chunk.length) {
        if (rest.length === 0) {
          const { value, done } = await frames.parts.next();
          if (done) {
            const consumed = frames.plain.bytesWritten;
            start += consumed;
            if (consumed === 0 || start >= size) break;
            frames.compressed.destroy();
            frames = openFrames(path, start);
            continue;
          }
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
      frames.compressed.destroy();
      frames.plain.destroy();
    },
  };
}

function openFrames(path: string, start: number) {
  const compressed = createReadStream(path, { start });
  const plain = zlib.createZstdDecompress();
  compressed.on("error", (error) => plain.destroy(error)).pipe(plain);
  const parts: AsyncIterator<Buffer> = plain[Symbol.asyncIterator]();
  return { compressed, plain, parts };
}

/**
 * A pipe would block.
 *
 * @returns undefined for a longer file and for anything else than a file or folder
 * @throws if it is missing or can't be read
 */
export function readFileNow(path: string, maxBytes = Number.POSITIVE_INFINITY): Buffer | "folder" | undefined {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    if (found.isDirectory()) return "folder";
    return found.isFile() && found.size <= maxBytes ? readFileSync(file) : undefined;
  } finally {
    closeSync(file);
  }
}

/** Returns undefined for anything else than a file. @throws if it is missing or can't be read */
export async function readTextFile(path: string): Promise<string | undefined> {
  const found = readFileNow(path);
  return found === "folder" ? undefined : found?.toString();
}
