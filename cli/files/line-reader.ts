import { openByteReader } from "./byte-reader.ts";
import { collectGarbage } from "./garbage-collection.ts";

const MiB = 1024 * 1024;
const chunkBytes = MiB;
/** Longer lines are skipped: a line's text, its parsed value and its message are in memory together. */
export const maxLineBytes = 16 * MiB;
/** After a line of this size, garbage is collected at once. */
const collectAfterBytes = 4 * MiB;

const newline = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** @param number the line's number, from 1 @param isOpen whether no newline ends it: it may still be being written */
type HandleLine = (line: string, number: number, isOpen: boolean) => void;

export type LineEvents = {
  /** A line over the limit was skipped. */
  tooLong(number: number): void;
  /** Awaited after each chunk. */
  pause(): Promise<void>;
};

/** Chunk buffers that no reader uses at the moment. */
const idleChunks: Buffer[] = [];

/**
 * Reads a file line by line, decompressing `.zst`. A byte order mark is removed.
 *
 * @throws where the file can't be read
 */
export async function readLines(path: string, handle: HandleLine, events: LineEvents): Promise<void> {
  const file = await openByteReader(path);
  const chunk = idleChunks.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
  try {
    const held = new PartialLine();
    let number = 0;
    let isFirst = true;
    // A chunk that isn't filled is the last one.
    for (let bytesRead = chunkBytes; bytesRead === chunkBytes; ) {
      bytesRead = await file.fill(chunk);
      let from = isFirst && chunk.subarray(0, 3).equals(byteOrderMark) ? 3 : 0;
      isFirst = false;
      for (let end = chunk.indexOf(newline, from); end !== -1 && end < bytesRead; end = chunk.indexOf(newline, from)) {
        number++;
        if (held.bytes > 0) held.finish(chunk.subarray(from, end), { number, isOpen: false }, handle, events);
        else handle(chunk.toString("utf8", from, end), number, false);
        from = end + 1;
      }
      if (from < bytesRead) held.add(chunk.subarray(from, bytesRead));
      await events.pause();
    }
    if (held.bytes > 0) held.finish(Buffer.alloc(0), { number: number + 1, isOpen: true }, handle, events);
  } finally {
    idleChunks.push(chunk);
    await file.close();
  }
}

/** A line that spans several chunks, in one buffer shared by all such lines of a file. */
class PartialLine {
  #buffer: Buffer | undefined;
  bytes = 0;

  add(part: Buffer): void {
    // Pages of the buffer that are never written to take no physical memory.
    this.#buffer ??= Buffer.allocUnsafeSlow(maxLineBytes);
    if (this.bytes + part.length <= maxLineBytes) part.copy(this.#buffer, this.bytes);
    this.bytes += part.length;
  }

  finish(
    rest: Buffer,
    { number, isOpen }: { number: number; isOpen: boolean },
    handle: HandleLine,
    events: LineEvents,
  ): void {
    this.add(rest);
    const { bytes } = this;
    this.bytes = 0;
    if (bytes > maxLineBytes) events.tooLong(number);
    else handle(this.#buffer?.toString("utf8", 0, bytes) ?? "", number, isOpen);
    if (bytes > collectAfterBytes) collectGarbage();
  }
}

/** Why a line was skipped. */
export const lineTooLong = (number: number): string => `line ${number} is longer than ${maxLineBytes / MiB} MiB`;
