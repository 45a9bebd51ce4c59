import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Sink } from "../adapters/adapter.ts";
import { partlyJson, recoverRecords } from "./broken-line.ts";
import { readTextFile } from "./byte-reader.ts";
import { type Fields, isFields, parseJson } from "./json.ts";
import { type LinePlace, lineTooLong, maxWholeBytes, readLines } from "./line-reader.ts";

const MiB = 1024 * 1024;

type LineSink = Pick<Sink, "entry" | "skipped" | "invalid" | "message" | "pause">;

type HandleRecord = (record: Fields, line: number) => void;

type ReadOptions = {
  from?: LinePlace | undefined;
  isSkipped?: ((line: Buffer) => boolean) | undefined;
};

/**
 * Intact objects of a broken line are read, and the rest counts as invalid; an incomplete last line waits for the next
 * run.
 *
 * @throws if the file can't be read
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
 * It removes a byte order mark, and reports a file over `maxWholeBytes` as lost.
 *
 * @throws if the file can't be read
 */
export async function readWholeFile(path: string, sink: Sink): Promise<string | undefined> {
  const { size } = await stat(path);
  if (size <= maxWholeBytes) return ((await readTextFile(path)) ?? "").replace(/^\ufeff/, "");
  sink.lost(`${basename(path)} is larger than ${maxWholeBytes / MiB} MiB`);
  return undefined;
}
