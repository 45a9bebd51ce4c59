import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Sink } from "../adapters/adapter.ts";
import { type Fields, isFields, parseJson } from "./json.ts";
import { type LinePlace, lineTooLong, maxWholeBytes, readLines } from "./line-reader.ts";
import { readTextFile } from "./text-file.ts";

const MiB = 1024 * 1024;

/** What a file's lines are told to. */
type LineSink = Pick<Sink, "entry" | "invalid" | "message" | "pause">;

/**
 * Reads a file of JSON objects, one per line, and counts them. Any other line is counted as invalid; an incomplete last line
 * is left for the next run.
 *
 * @param handle is told the line's number, too, from 1
 * @param from where to begin
 * @returns as `readLines`
 * @throws where the file can't be read
 */
export function readRecords(
  path: string,
  sink: LineSink,
  handle: (record: Fields, line: number) => void,
  from?: LinePlace,
): ReturnType<typeof readLines> {
  const tooLong = (number: number) => {
    sink.entry(number);
    sink.invalid("the line is too long");
    const content = `[Spoor: ${lineTooLong(number)} and is missing here.]`;
    sink.message({ role: "system", content, metadata: { kind: "notice" } });
  };
  const take = (line: string, number: number, isOpen: boolean) => takeLine(line, number, isOpen, sink, handle);
  return readLines(path, take, { tooLong, pause: () => sink.pause() }, from);
}

function takeLine(
  line: string,
  number: number,
  isOpen: boolean,
  sink: LineSink,
  handle: (record: Fields, line: number) => void,
): void {
  const record = parseJson(line);
  if (isFields(record)) {
    sink.entry(number);
    handle(record, number);
  } else if (!isOpen && (record !== undefined || line.trim() !== "")) {
    const glued = record === undefined ? gluedRecords(line) : [];
    for (const one of glued) {
      sink.entry(number);
      handle(one, number);
    }
    if (glued.length > 0) return;
    sink.entry(number);
    sink.invalid(record === undefined ? "not JSON" : "not a JSON object");
  }
}

/** So many places of a line are tried, of lines up to this length: a hostile one must not cost minutes. */
const maxGlues = 32;
const maxGluedChars = 4 * MiB;

/** The objects of a line in which two writers, or one that was interrupted, left out the newline between them; else none. */
function gluedRecords(line: string): Fields[] {
  const records: Fields[] = [];
  if (line.length > maxGluedChars) return records;
  let begin = 0;
  let at = line.indexOf("}{");
  for (let tried = 0; at !== -1 && tried < maxGlues; tried++, at = line.indexOf("}{", at + 1)) {
    const record = parseJson(line.slice(begin, at + 1));
    if (!isFields(record)) continue; // these braces stand in a text
    records.push(record);
    begin = at + 1;
  }
  const last = begin > 0 ? parseJson(line.slice(begin)) : undefined;
  return isFields(last) ? [...records, last] : [];
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
