import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isMissingOrForbidden, statInput } from "../../files/discovery.ts";
import { isFields, parseJson, readLines } from "../../files/json-lines.ts";
import { asString } from "../metadata.ts";

/** How much of a file is read to find its first message. */
const headBytes = 64 * 1024;

/** First messages never change, so each file's is read once. */
const firstUuids = new Map<string, string>();

/** The files of a folder by their first messages, as they were at some time of the folder's. */
type Group = { mtimeMs: number; byFirst: Map<string, Set<string>> };
const groups = new Map<string, Group>();

/**
 * Which lines of a session were copied from another one. Versions of Claude Code that resumed a session in a new file copied
 * its lines there under the new session's id, and nothing in them tells; but they kept their own ids.
 *
 * Of files that begin with the same message the oldest is the original, so that each message is counted in one of them.
 *
 * @returns the original's `sourceId` and the ids of its lines; undefined where this file is a copy of none
 */
export async function originalOf(path: string): Promise<{ sourceId: string; uuids: Set<string> } | undefined> {
  const first = await firstUuid(path);
  if (first === undefined) return undefined;
  const alike = (await groupOf(dirname(path))).get(first) ?? new Set();
  if (alike.size < (alike.has(path) ? 2 : 1)) return undefined;
  const same = await Promise.all([...alike.add(path)].map(async (one) => ({ path: one, born: await bornAt(one) })));
  const [oldest] = same.sort((a, b) => a.born - b.born || (a.path < b.path ? -1 : 1));
  if (!oldest || oldest.path === path) return undefined;
  return { sourceId: basename(oldest.path, ".jsonl"), uuids: await uuidsOf(oldest.path) };
}

async function groupOf(folder: string): Promise<Group["byFirst"]> {
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

/** When a file was made, in milliseconds since 1970; where the file system does not know, the order of names decides. */
async function bornAt(path: string): Promise<number> {
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
  const head = await headOf(path);
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

/** A file that can't be read has no beginning here: it is named when it is its turn. A pipe is none, and would be waited for. */
async function headOf(path: string): Promise<string> {
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

/** Ids of lines, found without understanding the lines. */
async function uuidsOf(path: string): Promise<Set<string>> {
  const uuids = new Set<string>();
  const take = (line: string) => {
    const uuid = /"uuid":\s*"([^"\\]{1,64})"/.exec(line)?.[1];
    if (uuid) uuids.add(uuid);
  };
  await readLines(path, take, { tooLong() {}, pause: async () => {} });
  return uuids;
}
