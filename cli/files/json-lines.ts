import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Sink } from "../adapters/adapter.ts";
import { partlyJson, recoverRecords } from "./broken-line.ts";
import { type Fields, isFields, parseJson } from "./json.ts";
import { type LinePlace, lineTooLong, maxWholeBytes, readLines } from "./line-reader.ts";
import { readTextFile } from "./text-file.ts";

const MiB = 1024 * 1024;

/** What a file's lines are told to. */
type LineSink = Pick<Sink, "entry" | "skipped" | "invalid" | "message" | "pause">;

type HandleRecord = (record: Fields, line: number) => void;

type ReadOptions = {
  /** The place to begin at; by default the start. */
  from?: LinePlace | undefined;
  /** Tells lines that are skipped unread. */
  isSkipped?: ((line: Buffer) => boolean) | undefined;
};

/**
 * Reads a file of JSON objects, one per line, and counts them. Of a broken line what is intact is read, and the rest is counted
 * as invalid; an incomplete last line is left for the next run.
 *
 * @param handle is told the line's number, too, from 1
 * @returns as `readLines`
 * @throws where the file can't be read
 */
export function readRecords(
  path: string,
  sink: LineSink,
  handle: HandleRecord,
  { from, isSkipped }: ReadOptions = {},
): ReturnType<typeof readLines> {
  const tooLong = (number: number) => {
    sink.entry(number);
    sink.invalid("the line is too long");
    const content = `[Spoor: ${lineTooLong(number)} and is missing here.]`;
    sink.message({ role: "system", content, metadata: { kind: "notice" } });
  };
  const skip = (line: Buffer, number: number) => {
    if (!isSkipped?.(line)) return false;
    sink.entry(number);
    sink.skipped();
    return true;
  };
  const take = (line: string, number: number, isOpen: boolean) => takeLine(line, number, isOpen, sink, handle);
  const events = { tooLong, skip: isSkipped && skip, pause: () => sink.pause() };
  return readLines(path, take, events, from);
}

function takeLine(line: string, number: number, isOpen: boolean, sink: LineSink, handle: HandleRecord): void {
  const record = parseJson(line);
  if (isFields(record)) {
    sink.entry(number);
    handle(record, number);
    return;
  }
  if (isOpen || line.trim() === "") return;
  const { records, isPartial } = record === undefined ? recoverRecords(line) : { records: [], isPartial: true };
  for (const one of records) {
    sink.entry(number);
    handle(one, number);
  }
  if (!isPartial) return;
  sink.entry(number);
  sink.invalid(describeLoss(record, records.length));
}

function describeLoss(value: unknown, recovered: number): string {
  if (value !== undefined) return "not a JSON object";
  return recovered > 0 ? partlyJson : "not JSON";
}

/**
 * The text of a file that can only be read whole, without its byte order mark. A larger one than `maxWholeBytes` is reported
 * as lost.
 *
 * @throws where the file can't be read
 */
export async function readWholeFile(path: string, sink: Sink): Promise<string | undefined> {
  const { size } = await stat(path);
  if (size <= maxWholeBytes) return ((await readTextFile(path)) ?? "").replace(/^\ufeff/, "");
  sink.lost(`${basename(path)} is larger than ${maxWholeBytes / MiB} MiB`);
  return undefined;
}
