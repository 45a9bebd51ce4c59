import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Sink } from "../adapters/adapter.ts";
import { openByteReader } from "./byte-reader.ts";
import { collectGarbage } from "./garbage-collection.ts";

const MiB = 1024 * 1024;
const chunkBytes = MiB;
/** A longer line is not read: its text, what it means and what is made of it stand in memory together. */
export const maxLineBytes = 16 * MiB;
/** What is made of a line of this size is not left to lie about. */
const costlyBytes = 4 * MiB;

const newline = 0x0a;

/** What is told of lines besides those that are whole. */
export type LineReport = {
  /** A line over the bound was left out. */
  tooLong(bytes: number): void;
  /** Is awaited after each chunk. */
  pause(): Promise<void>;
};

/**
 * Reads a file line by line, one in zstd (`.zst`) as well; CRLF and a byte order mark are taken off. The last line, where no newline ends it, comes with
 * `isOpen`: it may still be being written.
 *
 * @throws where the file can't be read
 */
export async function readLines(
  path: string,
  handle: (line: string, isOpen: boolean) => void,
  report: LineReport,
): Promise<void> {
  const file = await openByteReader(path);
  const chunk = chunks.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
  try {
    const held = new HeldLine();
    let isFirst = true;
    // A file that ends within a chunk is read in one go.
    for (let bytesRead = chunkBytes; bytesRead === chunkBytes; ) {
      bytesRead = await file.fill(chunk);
      let from = isFirst && chunk.subarray(0, 3).equals(byteOrderMark) ? 3 : 0;
      isFirst = false;
      for (let end = chunk.indexOf(newline, from); end !== -1 && end < bytesRead; end = chunk.indexOf(newline, from)) {
        if (held.bytes > 0) held.finish(chunk.subarray(from, end), handle, report);
        else handle(chunk.toString("utf8", from, end), false);
        from = end + 1;
      }
      if (from < bytesRead) held.add(chunk.subarray(from, bytesRead));
      await report.pause();
    }
    if (held.bytes > 0) held.finish(Buffer.alloc(0), (line) => handle(line, true), report);
  } finally {
    chunks.push(chunk);
    await file.close();
  }
}

/** Memory for chunks that nobody reads into right now. */
const chunks: Buffer[] = [];

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line that goes over several chunks, in one block of memory for all such lines of a file. */
class HeldLine {
  #block: Buffer | undefined;
  bytes = 0;

  add(part: Buffer): void {
    // Memory that is never written to is none of the machine's.
    this.#block ??= Buffer.allocUnsafeSlow(maxLineBytes);
    if (this.bytes + part.length <= maxLineBytes) part.copy(this.#block, this.bytes);
    this.bytes += part.length;
  }

  finish(rest: Buffer, handle: (line: string, isOpen: boolean) => void, report: LineReport): void {
    this.add(rest);
    const { bytes } = this;
    this.bytes = 0;
    if (bytes > maxLineBytes) report.tooLong(bytes);
    else handle(this.#block?.toString("utf8", 0, bytes) ?? "", false);
    if (bytes > costlyBytes) collectGarbage();
  }
}

export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Reads a file of JSON objects, one a line, and counts them. What is no object is counted as invalid, a last line that is
 * cut off is left for later without a word.
 *
 * @throws where the file can't be read
 */
export async function readRecords(path: string, sink: Sink, handle: (record: Fields) => void): Promise<void> {
  const tooLong = (bytes: number) => {
    countInvalid(sink);
    sink.lost(lineTooLong(bytes));
  };
  const report = { tooLong, pause: () => sink.pause() };
  await readLines(path, (line, isOpen) => takeLine(line, isOpen, sink, handle), report);
}

/** What is told of a line that was left out. */
export const lineTooLong = (bytes: number): string =>
  `one of its lines has ${Math.round(bytes / MiB)} MiB, and this client reads lines of up to ${maxLineBytes / MiB}`;

function countInvalid(sink: Sink): void {
  sink.entry();
  sink.invalid();
}

function takeLine(line: string, isOpen: boolean, sink: Sink, handle: (record: Fields) => void): void {
  const record = parseJson(line);
  if (isFields(record)) {
    sink.entry();
    handle(record);
  } else if (!isOpen && (record !== undefined || line.trim() !== "")) {
    countInvalid(sink);
  }
}

/**
 * The text of a file that can only be read whole, without its byte order mark. One of more than 16 MiB is named as lost.
 *
 * @throws where the file can't be read
 */
export async function readWholeFile(path: string, sink: Sink): Promise<string | undefined> {
  const { size } = await stat(path);
  if (size <= maxLineBytes) return (await readFile(path, "utf8")).replace(/^\ufeff/, "");
  const limit = `this client reads files of this kind up to ${maxLineBytes / MiB}`;
  sink.lost(`${basename(path)} has ${Math.round(size / MiB)} MiB, and ${limit}`);
  return undefined;
}

/** The value of a JSON text; undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
