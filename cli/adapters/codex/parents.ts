import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { openByteReader, readBeginning } from "../../files/byte-reader.ts";
import { findFiles } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readLines } from "../../files/line-reader.ts";
import type { Message } from "../adapter.ts";
import { silentSink } from "../sinks.ts";
import { asFields, asString, dropOldest } from "../values.ts";

const headBytes = 64 * 1024;
const maxListAgeMs = 30_000;
const maxParents = 8;

export const isRollout = (name: string): boolean => /^rollout-.*\.jsonl(?:\.zst)?$/.test(name);

type RolloutList = { listedAt: number; paths: Promise<string[]> };

const lists = new Map<string, RolloutList>();
const turnsByFile = new Map<string, Set<string>>();

export type ForkOriginal = {
  id: string;
  isThere: boolean;
  /** Undefined if not known, or if the fork numbers its lines. */
  turns?: ReadonlySet<string>;
};

/** @param onFolder runs before anything else is read, and may throw */
export async function findParent(path: string, onFolder: (path: string) => void): Promise<ForkOriginal | undefined> {
  const head = await readHead(path);
  const { id: parent, isNumbered = false } = findParentId(head);
  const [, home] = /^(.*)[\\/](?:archived_)?sessions[\\/]/.exec(path) ?? [];
  if (parent === undefined || home === undefined) return undefined;
  const folder = /"cwd"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(head.slice(0, head.indexOf("\n") + 1) || head)?.[1];
  const cwd = folder && asString(parseJson(folder));
  if (cwd) onFolder(cwd);
  const turns = new Set<string>();
  const rollouts = (await listCachedRollouts(home)).filter((one) => one !== path && basename(one).includes(parent));
  for (const rollout of isNumbered ? [] : rollouts) for (const turn of await readTurns(rollout)) turns.add(turn);
  return { id: parent, isThere: rollouts.length > 0, ...(turns.size > 0 && { turns }) };
}

function findParentId(head: string): { id?: string | undefined; isNumbered?: boolean } {
  const [first = "", second = ""] = head.split("\n", 2);
  const own = parseMeta(first);
  const [, cut] = own ? [] : (/"forked_from_id"\s*:\s*"([^"\\]+)"/.exec(first) ?? []);
  if (cut !== undefined) return { id: cut };
  if (!own) return {};
  const copied = parseMeta(second)?.id;
  const id = asString(own.forked_from_id) ?? (copied === own.id ? undefined : asString(copied));
  return { id, isNumbered: own.subagent_history_start_ordinal !== undefined };
}

function parseMeta(line: string): Fields | undefined {
  const record = parseJson(line);
  return isFields(record) && record.type === "session_meta" && isFields(record.payload) ? record.payload : undefined;
}

async function readHead(path: string): Promise<string> {
  if (!path.endsWith(".zst")) return readBeginning(path);
  const head = Buffer.allocUnsafe(headBytes);
  const packed = await openByteReader(path);
  try {
    return head.toString("utf8", 0, await packed.fill(head));
  } finally {
    await packed.close();
  }
}

function listCachedRollouts(home: string): Promise<string[]> {
  const known = lists.get(home);
  if (known && Date.now() - known.listedAt < maxListAgeMs) return known.paths;
  const paths = listRollouts(home);
  lists.set(home, { listedAt: Date.now(), paths });
  return paths;
}

async function listRollouts(home: string): Promise<string[]> {
  const paths: string[] = [];
  for (const folder of ["sessions", "archived_sessions"]) {
    const found = findFiles(join(home, folder), isRollout);
    for await (const { path } of found) paths.push(path);
  }
  return paths;
}

async function readTurns(path: string): Promise<Set<string>> {
  try {
    const { size } = await stat(path);
    const key = `${size} ${path}`;
    const known = turnsByFile.get(key) ?? (await listTurns(path));
    turnsByFile.delete(key);
    turnsByFile.set(key, known);
    dropOldest(turnsByFile, maxParents);
    return known;
  } catch {
    // A parent that can't be read is reported elsewhere.
    return new Set();
  }
}

async function listTurns(path: string): Promise<Set<string>> {
  const turns = new Set<string>();
  const take = (line: string) => {
    for (const [, id] of line.matchAll(/"turn_id"\s*:\s*"([^"\\]{1,100})"/g)) if (id) turns.add(id);
  };
  await readLines(path, take, silentSink);
  return turns;
}

const getSpawn = ({ source: from }: Fields): Fields => {
  const subagent = asFields(from).subagent;
  return asFields(asFields(subagent).thread_spawn);
};

export const getParentId = (meta: Fields): string | undefined =>
  asString(meta.parent_thread_id) ?? asString(getSpawn(meta).parent_thread_id);

export const getAgentPath = (meta: Fields): string | undefined =>
  asString(meta.agent_path) ?? asString(getSpawn(meta).agent_path);

/** The name of the task replaces one that is encrypted. */
export function makeAgentTitle(task: string | undefined, path: string | undefined): string | undefined {
  const line = task?.split("\n").find((one) => one.trim() !== "");
  return line?.trim() ?? asString(path?.split("/").at(-1)?.replaceAll("_", " "));
}

const maxTaskChars = 2048;

export const findTask = (messages: Message[]): string | undefined =>
  messages
    .find(({ role, metadata }) => role === "user" && metadata?.kind === undefined)
    ?.content.slice(0, maxTaskChars);
