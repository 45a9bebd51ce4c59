import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isMissingOrForbidden, statInput } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import { readLines } from "../../files/line-reader.ts";
import { asString } from "../values.ts";

/** The part of a file that is searched for its first message. */
const headBytes = 64 * 1024;

/** By path. First messages never change, so each file is read once. */
const firstUuids = new Map<string, string>();

/** The files of a folder by their first messages, at a modification time of the folder. */
type Group = { mtimeMs: number; byFirst: Map<string, Set<string>> };
const groups = new Map<string, Group>();

/** The session that another one was copied from: its `sourceId`, and the ids of its lines. */
export type Original = { sourceId: string; uuids: Set<string> };

/**
 * Finds the session that a file's first lines were copied from. Older versions of Claude Code resumed a session in a new file
 * and copied its lines there under the new session's id, unmarked, but with their own ids.
 *
 * Of files that begin with the same message the oldest is the original, so that each message is counted once.
 *
 * @returns undefined where the file is no copy
 */
export async function findOriginal(path: string): Promise<Original | undefined> {
  const first = await firstUuid(path);
  if (first === undefined) return undefined;
  const alike = (await groupFolder(dirname(path))).get(first) ?? new Set();
  if (alike.size < (alike.has(path) ? 2 : 1)) return undefined;
  const same = await Promise.all(
    [...alike.add(path)].map(async (one) => ({ path: one, created: await createdAt(one) })),
  );
  const [oldest] = same.sort((a, b) => a.created - b.created || (a.path < b.path ? -1 : 1));
  if (!oldest || oldest.path === path) return undefined;
  return { sourceId: basename(oldest.path, ".jsonl"), uuids: await readUuids(oldest.path) };
}

async function groupFolder(folder: string): Promise<Group["byFirst"]> {
  const { mtimeMs } = await stat(folder);
  const known = groups.get(folder);
  if (known?.mtimeMs === mtimeMs) return known.byFirst;
  const byFirst: Group["byFirst"] = new Map();
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".jsonl") || name.startsWith("agent-")) continue;
    const path = join(folder, name);
    const first = await firstUuid(path);
    if (first !== undefined) byFirst.set(first, (byFirst.get(first) ?? new Set()).add(path));
  }
  groups.set(folder, { mtimeMs, byFirst });
  return byFirst;
}

/** When a file was created, in milliseconds since 1970. */
async function createdAt(path: string): Promise<number> {
  try {
    return (await stat(path)).birthtimeMs;
  } catch (error) {
    if (isMissingOrForbidden(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** The id of a file's first message; undefined where there is none yet. */
async function firstUuid(path: string): Promise<string | undefined> {
  const known = firstUuids.get(path);
  if (known !== undefined) return known;
  const head = await readHead(path);
  for (const line of head.split("\n").slice(0, -1)) {
    const record = parseJson(line);
    const uuid = isFields(record) && isMessage(record.type) ? asString(record.uuid) : undefined;
    if (uuid === undefined) continue;
    firstUuids.set(path, uuid);
    return uuid;
  }
  return undefined;
}

const isMessage = (type: unknown) => type === "user" || type === "assistant" || type === "system";

/** The beginning of a file; empty for one that can't be read, which parsing it reports, and for pipes, which would block. */
async function readHead(path: string): Promise<string> {
  if (!(await statInput(path))) return "";
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(headBytes), 0, headBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) return "";
    throw error;
  } finally {
    await file?.close();
  }
}

/** The ids of a file's lines, found without parsing them. */
async function readUuids(path: string): Promise<Set<string>> {
  const uuids = new Set<string>();
  const take = (line: string) => {
    const uuid = /"uuid":\s*"([^"\\]{1,64})"/.exec(line)?.[1];
    if (uuid) uuids.add(uuid);
  };
  await readLines(path, take, { tooLong() {}, pause: async () => {} });
  return uuids;
}
