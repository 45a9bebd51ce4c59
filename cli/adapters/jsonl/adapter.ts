import { basename, delimiter, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { isFields, lineTooLong, parseJson, readLines } from "../../files/json-lines.ts";
import type { Adapter, Host, Message, SearchRoot, Sink } from "../adapter.ts";

const defaultSource = "unknown";

/**
 * Sessions in the form of `POST /api/ingest`, one a line: what an export of Spoor has, and what programs write that nobody
 * has an adapter for. They are read from one folder of their own; `spoor push FILE` takes any other file.
 */
export const jsonl: Adapter = {
  name: "jsonl",
  title: "JSONL",
  version: 1,
  diagnose,
  async *discover(host) {
    for (const { path } of diagnose(host)) yield* findFiles(path, (name) => /\.(?:jsonl|ndjson)$/i.test(name));
  },
  async parse({ path }, sink) {
    const report = { tooLong: (bytes: number) => rejectLong(bytes, path, sink), pause: () => sink.pause() };
    await readLines(path, (line, isOpen) => takeLine(line, isOpen, sink), report);
  },
};

function diagnose({ home, env }: Host): SearchRoot[] {
  const named = (env.SPOOR_JSONL ?? "").split(delimiter).filter(Boolean);
  if (named.length > 0) return named.map((path) => ({ path, from: "SPOOR_JSONL" }));
  const data = env.XDG_DATA_HOME || join(home, ".local", "share");
  return [{ path: join(data, "spoor", "jsonl"), ...(env.XDG_DATA_HOME && { from: "XDG_DATA_HOME" }) }];
}

function rejectLong(bytes: number, path: string, sink: Sink): void {
  sink.entry();
  sink.begin(defaultSource, basename(path));
  sink.reject(lineTooLong(bytes));
}

function takeLine(line: string, isOpen: boolean, sink: Sink): void {
  if (line.trim() === "") return;
  const trace = parseJson(line);
  if (trace === undefined && isOpen) return;
  sink.entry();
  if (!isFields(trace) || typeof trace.sourceId !== "string" || !Array.isArray(trace.messages)) {
    sink.invalid();
    return;
  }
  const { sourceId, source, messages, ...ending } = trace;
  sink.begin(typeof source === "string" ? source : defaultSource, sourceId);
  // Whether a message is as it must be is for the server to say, which names what is not.
  for (const message of messages) sink.message(message as Message);
  sink.end(ending);
}
