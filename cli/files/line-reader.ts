import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openByteReader } from "./byte-reader.ts";
import { LineShortener } from "./line-shortener.ts";

const MiB = 1024 * 1024;
const chunkBytes = MiB;
const smallBytes = 64 * 1024;
/** Maximum size of a unit other than a line that is read as a whole: a file, a database row, a transcript's message. */
export const maxWholeBytes = 16 * MiB;
/** Longer lines are shortened, because a line's text, value and message are in memory together. */
export const maxLineBytes = 22 * MiB;
const maxTextBytes = 8 * MiB;
/** After a line of this size, garbage is collected at once. */
const collectAfterBytes = 4 * MiB;

const newline = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** @param isOpen no newline ends the line, which may still be written */
type HandleLine = (line: string, number: number, isOpen: boolean) => void;

export type LineEvents = {
  /** @returns true to skip the line */
  skip?: ((line: Buffer, number: number) => boolean) | undefined;
  tooLong(number: number): void;
  pause(): Promise<void>;
};

/** The position after a line, and the number of lines before it. */
export type LinePlace = { offset: number; line: number };

const idleChunks: Buffer[] = [];
const takeChunk = (): Buffer => idleChunks.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);

/**
 * @returns the position after the last complete line; `isOpen` if another line follows it
 * @throws if the file can't be read
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
    const partial = new PartialLine();
    let number = from.line;
    let isFirst = from.offset === 0;
    let [base, offset] = [from.offset, from.offset];
    for (let bytesRead = await reading, isLast = false; !isLast; ) {
      // A chunk that isn't filled is the last one; otherwise the next is read while this one is parsed.
      isLast = bytesRead < chunkBytes;
      if (!isLast) {
        ahead ??= takeChunk();
        reading = file.fill(ahead);
      }
      let at = isFirst && chunk.subarray(0, 3).equals(byteOrderMark) ? 3 : 0;
      isFirst = false;
      for (let end = chunk.indexOf(newline, at); end !== -1 && end < bytesRead; end = chunk.indexOf(newline, at)) {
        number++;
        if (partial.bytes > 0) partial.finish(chunk.subarray(at, end), { number, isOpen: false }, handle, events);
        else if (!events.skip?.(chunk.subarray(at, end), number))
          handle(chunk.toString("utf8", at, end), number, false);
        at = end + 1;
        offset = base + at;
      }
      if (at < bytesRead) partial.add(chunk.subarray(at, bytesRead));
      base += bytesRead;
      [bytesRead] = await Promise.all([reading, events.pause()]);
      if (ahead) [chunk, ahead] = [ahead, chunk];
    }
    const end = { offset, line: number, isOpen: partial.bytes > 0 };
    if (partial.bytes > 0) partial.finish(Buffer.alloc(0), { number: number + 1, isOpen: true }, handle, events);
    return end;
  } finally {
    await Promise.allSettled([reading]);
    idleChunks.push(chunk, ...(ahead ? [ahead] : []));
    await file.close();
  }
}

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
   * The buffer begins small, because a full-size one for each of thousands of files would keep the garbage collector
   * busy.
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

export const lineTooLong = (number: number): string => `line ${number} is longer than ${maxLineBytes / MiB} MiB`;

/**
 * Keeps V8's space for new objects small: most of a parser's objects die at once, and a larger space doubles the
 * memory.
 */
export function keepNewSpaceSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

let collect: (() => void) | undefined;

function collectGarbage(): void {
  if (!collect) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
}
