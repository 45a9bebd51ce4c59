import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { recoverRecords } from "../../files/broken-line.ts";
import { readBeginning } from "../../files/byte-reader.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { asString } from "../values.ts";

/** What a file begins with: its folder, the id of its first message, summaries by the lines that they name, and other sessions. */
export type Head = {
  folder?: string;
  first?: string;
  summaries: readonly (readonly [string, string])[];
  /** The ids of other sessions that its first lines name. */
  named: ReadonlySet<string>;
};

/** By path. Neither changes once there is a first message, so each file is read once. */
const heads = new Map<string, Head>();

/** A folder's files by their first messages, and the summaries in them. */
export type Folder = { byFirst: Map<string, Set<string>>; summaries: ReadonlyMap<string, string> };

/** By path, at a modification time. */
const folders = new Map<string, Folder & { mtimeMs: number }>();

const noFolder: Folder = { byFirst: new Map(), summaries: new Map() };

/** Reads what the sessions in a folder begin with. */
export async function readFolder(folder: string): Promise<Folder> {
  const { mtimeMs } = statSync(folder);
  const known = folders.get(folder);
  if (known?.mtimeMs === mtimeMs) return known;
  const byFirst: Folder["byFirst"] = new Map();
  const summaries = new Map<string, string>();
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".jsonl") || name.startsWith("agent-")) continue;
    const path = join(folder, name);
    const head = readHead(path);
    for (const [uuid, summary] of head.summaries) summaries.set(uuid, summary);
    if (head.first !== undefined) byFirst.set(head.first, (byFirst.get(head.first) ?? new Set()).add(path));
  }
  const read = { byFirst, summaries, mtimeMs };
  folders.set(folder, read);
  return read;
}

/** The summaries at the beginning of the files beside one, by the lines that they name. */
export async function summariesBeside(path: string): Promise<ReadonlyMap<string, string>> {
  const { first } = readHead(path);
  return (first === undefined ? noFolder : await readFolder(dirname(path))).summaries;
}

/** What a file begins with. */
export function readHead(path: string): Head {
  const known = heads.get(path);
  if (known) return known;
  const summaries: [string, string][] = [];
  let [first, folder]: (string | undefined)[] = [];
  const text = readHeadText(path);
  for (const line of text.split("\n").slice(0, -1)) {
    const isSummary = line.includes('"summary"');
    if (first !== undefined && !isSummary) continue;
    for (const record of recordsIn(line)) {
      folder ??= asString(record.cwd);
      if (isMessage(record.type)) first ??= asString(record.uuid);
      const { type, summary, leafUuid } = record;
      if (type === "summary" && asString(summary) && asString(leafUuid))
        summaries.push([String(leafUuid), String(summary)]);
    }
  }
  const head = {
    ...(folder !== undefined && { folder }),
    ...(first !== undefined && { first }),
    summaries,
    named: namesIn(text, path),
  };
  if (first !== undefined) heads.set(path, head);
  return head;
}

function recordsIn(line: string): Fields[] {
  const record = parseJson(line);
  if (record === undefined) return line.trim() === "" ? [] : recoverRecords(line).records;
  return isFields(record) ? [record] : [];
}

/** A session's file is named after it. */
const namePattern = /"sessionId":\s*"([\w-]{1,128})"/g;

function namesIn(text: string, path: string): Set<string> {
  const names = new Set<string>();
  for (const [, name = ""] of text.matchAll(namePattern)) names.add(name);
  names.delete(basename(path, ".jsonl"));
  return names;
}

const isMessage = (type: unknown) => type === "user" || type === "assistant" || type === "system";

/** The beginning of a file; empty for one that can't be read, which parsing it reports, and for pipes, which would block. */
function readHeadText(path: string): string {
  try {
    return statSync(path).isFile() ? readBeginning(path) : "";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) return "";
    throw error;
  }
}
