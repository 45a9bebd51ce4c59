import { openByteReader } from "./byte-reader.ts";
import { collectGarbage } from "./garbage-collection.ts";
import { LineShortener } from "./line-shortener.ts";

const MiB = 1024 * 1024;
const chunkBytes = MiB;
/** The first size of the buffer for a line that spans several chunks or ends a file, in bytes. */
const smallBytes = 64 * 1024;
/** The largest unit that is read whole where it is no line: a file, a row, a message of a transcript. */
export const maxWholeBytes = 16 * MiB;
/** Longer lines are shortened: a line's text, its parsed value and its message are in memory together. */
export const maxLineBytes = 22 * MiB;
/** What stays of each text in such a line. */
const maxTextBytes = 8 * MiB;
/** After a line of this size, garbage is collected at once. */
const collectAfterBytes = 4 * MiB;

const newline = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** @param number the line's number, from 1 @param isOpen whether no newline ends it: it may still be being written */
type HandleLine = (line: string, number: number, isOpen: boolean) => void;

export type LineEvents = {
  /** Takes a line's bytes, before its text is made. @returns whether that is all that is wanted of the line */
  skip?: ((line: Buffer, number: number) => boolean) | undefined;
  /** A line over the limit was skipped: it is no JSON, or has too much besides long texts. */
  tooLong(number: number): void;
  /** Awaited after each chunk. */
  pause(): Promise<void>;
};

/** A place after a line: its offset in the file, and the number of lines before it. */
export type LinePlace = { offset: number; line: number };

/** Chunk buffers that no reader uses at the moment. */
const idleChunks: Buffer[] = [];
const takeChunk = (): Buffer => idleChunks.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);

/**
 * Reads a file line by line, decompressing `.zst`. A byte order mark is removed.
 *
 * @param from where to begin
 * @returns the place after the last complete line, and whether another one follows it
 * @throws where the file can't be read
 */
export async function readLines(
  path: string,
  handle: HandleLine,
  events: LineEvents,
  from: LinePlace = { offset: 0, line: 0 },
): Promise<LinePlace & { isOpen: boolean }> {
  const file = await openByteReader(path, from.offset);
  let chunk = takeChunk();
  let ahead: Buffer | undefined;
  let reading = file.fill(chunk);
  try {
    const held = new PartialLine();
    let number = from.line;
    let isFirst = from.offset === 0;
    let [base, offset] = [from.offset, from.offset];
    for (let bytesRead = await reading, isLast = false; !isLast; ) {
      // A chunk that isn't filled is the last one; else the next is read while this one is parsed.
      isLast = bytesRead < chunkBytes;
      if (!isLast) {
        ahead ??= takeChunk();
        reading = file.fill(ahead);
      }
      let at = isFirst && chunk.subarray(0, 3).equals(byteOrderMark) ? 3 : 0;
      isFirst = false;
      for (let end = chunk.indexOf(newline, at); end !== -1 && end < bytesRead; end = chunk.indexOf(newline, at)) {
        number++;
        if (held.bytes > 0) held.finish(chunk.subarray(at, end), { number, isOpen: false }, handle, events);
        else if (!events.skip?.(chunk.subarray(at, end), number))
          handle(chunk.toString("utf8", at, end), number, false);
        at = end + 1;
        offset = base + at;
      }
      if (at < bytesRead) held.add(chunk.subarray(at, bytesRead));
      base += bytesRead;
      [bytesRead] = await Promise.all([reading, events.pause()]);
      if (ahead) [chunk, ahead] = [ahead, chunk];
    }
    const end = { offset, line: number, isOpen: held.bytes > 0 };
    if (held.bytes > 0) held.finish(Buffer.alloc(0), { number: number + 1, isOpen: true }, handle, events);
    return end;
  } finally {
    await Promise.allSettled([reading]);
    idleChunks.push(chunk, ...(ahead ? [ahead] : []));
    await file.close();
  }
}

/** A line, or another piece of JSON, that spans several chunks, in one buffer shared by all such lines of a file. */
export class PartialLine {
  #buffer: Buffer | undefined;
  #shortener: LineShortener | undefined;
  bytes = 0;

  add(part: Buffer): void {
    if (this.#shortener) {
      this.#shortener.add(part);
      this.bytes += part.length;
      return;
    }
    if (this.bytes + part.length <= maxLineBytes) part.copy(this.#room(this.bytes + part.length), this.bytes);
    else {
      this.#shortener = new LineShortener(maxLineBytes, maxTextBytes);
      this.#shortener.add(this.#room(this.bytes).subarray(0, this.bytes));
      this.#shortener.add(part);
      this.#buffer = undefined;
    }
    this.bytes += part.length;
  }

  /**
   * The buffer, with room for so many bytes. It begins small: a longest line's buffer for each of thousands of files has the
   * garbage collector run all the time. Pages of the large one that are never written to take no physical memory.
   */
  #room(bytes: number): Buffer {
    const before = this.#buffer;
    if (before && bytes <= before.length) return before;
    this.#buffer = Buffer.allocUnsafeSlow(bytes <= smallBytes ? smallBytes : maxLineBytes);
    before?.copy(this.#buffer, 0, 0, this.bytes);
    return this.#buffer;
  }

  finish(
    rest: Buffer,
    { number, isOpen }: { number: number; isOpen: boolean },
    handle: HandleLine,
    events: LineEvents,
  ): void {
    this.add(rest);
    const { bytes } = this;
    const shortener = this.#shortener;
    const line = shortener ? shortener.line() : this.#room(bytes).subarray(0, bytes);
    this.bytes = 0;
    this.#shortener = undefined;
    if (shortener?.isFull) events.tooLong(number);
    else if (!events.skip?.(line, number)) handle(line.toString(), number, isOpen);
    if (bytes > collectAfterBytes) collectGarbage();
  }
}

/** Why a line was skipped. */
export const lineTooLong = (number: number): string => `line ${number} is longer than ${maxLineBytes / MiB} MiB`;
