import { basename, delimiter } from "node:path";
import { partlyJson, recoverRecords } from "../../files/broken-line.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { lineTooLong, readLines } from "../../files/line-reader.ts";
import type { Host, Message, SearchRoot, Sink } from "../adapter.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { splitFolders } from "../named-folders.ts";
import { getDataRoot } from "../search-roots.ts";

const defaultSource = "unknown";

export const jsonl = makeFileAdapter({
  name: "jsonl",
  title: "JSONL",
  version: 1,
  holdsAnySource: true,
  getSearchRoots,
  matches: (name) => /\.(?:jsonl|ndjson)$/i.test(name),
  async parse({ path, isComplete = false }, sink) {
    const tooLong = (number: number) => {
      sink.entry(number);
      sink.begin(defaultSource, basename(path));
      sink.reject(lineTooLong(number));
    };
    const handle = (line: string, number: number, isOpen: boolean) =>
      parseLine(line, { number, mayBeIncomplete: isOpen && !isComplete }, sink);
    await readLines(path, handle, { tooLong, pause: () => sink.pause() });
  },
});

function getSearchRoots(host: Host): SearchRoot[] {
  const named = splitFolders(host, host.env.SPOOR_JSONL, delimiter);
  if (named.length > 0) return named.map((path) => ({ path, variable: "SPOOR_JSONL" }));
  return [getDataRoot(host, "spoor", "jsonl")];
}

function parseLine(
  line: string,
  { number, mayBeIncomplete }: { number: number; mayBeIncomplete: boolean },
  sink: Sink,
): void {
  if (line.trim() === "") return;
  const trace = parseJson(line);
  if (trace === undefined && mayBeIncomplete) return;
  const { records, isPartial } =
    trace === undefined ? recoverRecords(line) : { records: [trace].filter(isFields), isPartial: false };
  const sessions = records.filter(isSession);
  for (const session of sessions) {
    sink.entry(number);
    addSession(session, sink);
  }
  if (!isPartial && sessions.length > 0) return;
  sink.entry(number);
  sink.invalid(sessions.length > 0 ? partlyJson : trace === undefined ? "not JSON" : notASession);
}

const notASession = "not a session: it needs sourceId and messages";

type ExportedSession = Fields & { sourceId: string; messages: unknown[] };

const isSession = (value: Fields): value is ExportedSession =>
  typeof value.sourceId === "string" && Array.isArray(value.messages);

function addSession({ sourceId, source, messages, ...details }: ExportedSession, sink: Sink): void {
  sink.begin(typeof source === "string" ? source : defaultSource, sourceId);
  for (const message of messages) sink.message(message as Message);
  sink.end(details);
}
