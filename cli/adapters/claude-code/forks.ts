import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isMissingOrForbidden } from "../../files/discovery.ts";
import { readLines } from "../../files/line-reader.ts";
import { readFolder, readHead } from "./heads.ts";
import { sessionPathOf } from "./identity.ts";

/** The session that another one was copied from: its `sourceId`, and the ids of its lines. */
export type Original = { sourceId: string; uuids: ReadonlySet<string> };

/**
 * Finds the session that a file's first lines were copied from, with their own ids but under the new session's id: versions
 * of Claude Code that resumed a session in a new file copied its lines there, and a fork does.
 *
 * Of files that begin with the same message the oldest is the original, so that each message is counted once.
 *
 * @returns undefined where the file is no copy
 */
export async function findOriginal(path: string): Promise<Original | undefined> {
  const { first } = readHead(path);
  if (first === undefined) return undefined;
  const alike = (await readFolder(dirname(path))).byFirst.get(first) ?? new Set();
  if (alike.size < (alike.has(path) ? 2 : 1)) return undefined;
  const same = await Promise.all(
    [...alike.add(path)].map(async (one) => ({ path: one, created: await createdAt(one) })),
  );
  const [oldest] = same.sort((a, b) => a.created - b.created || (a.path < b.path ? -1 : 1));
  if (!oldest || oldest.path === path) return undefined;
  return { sourceId: basename(oldest.path, ".jsonl"), uuids: await readUuids(oldest.path) };
}

/** An agent of the program's own, such as `agent-acompact-…`: it begins with a copy of its session's conversation. */
const programAgent = /^agent-a[a-z_]+-/;

/** Finds the session that a sub-agent's first lines were copied from. @returns undefined for an agent with a task of its own */
export async function findAgentsOriginal(path: string): Promise<Original | undefined> {
  const session = programAgent.test(basename(path)) ? sessionPathOf(path) : undefined;
  if (session === undefined) return undefined;
  try {
    return { sourceId: basename(session, ".jsonl"), uuids: await readUuids(session) };
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
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

/** The ids of a file's lines, or of those that are wanted, found without parsing them. */
export async function readUuids(path: string, wanted?: ReadonlySet<string>): Promise<Set<string>> {
  const uuids = new Set<string>();
  const take = (line: string) => {
    const uuid = /"uuid":\s*"([^"\\]{1,64})"/.exec(line)?.[1];
    if (uuid && wanted?.has(uuid) !== false) uuids.add(uuid);
  };
  await readLines(path, take, { tooLong() {}, pause: async () => {} });
  return uuids;
}
