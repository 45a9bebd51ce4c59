import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readBeginningOrNothing } from "../../files/byte-reader.ts";
import { isMissingOrForbidden } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Input } from "../adapter.ts";
import { Originals } from "../originals.ts";
import { silentSink } from "../sinks.ts";
import { asString, asTimestamp } from "../values.ts";
import type { PiSurroundings } from "./session.ts";

type PiHead = { id: string; createdAt: number; from: string | undefined; first: string | undefined };

/** A head does not change once both lines are there, so each file's beginning is read once. */
const heads = new Map<string, PiHead>();

const folders = new Map<string, { mtimeMs: number; byFirst: ReadonlyMap<string, string[]> }>();

export const makeEntryKey = ({ id, timestamp }: Fields): string | undefined =>
  asString(id) && asString(timestamp) ? `${id} ${timestamp}` : undefined;

const maxMembers = 64;

/** These begin with the same line, or the file names them. */
function findOlder(path: string, own: PiHead | undefined): [path: string, PiHead][] {
  if (own?.first === undefined) return [];
  const found = new Map<string, PiHead>();
  const alike = readFolder(dirname(path)).get(own.first) ?? [];
  for (const other of [...(own.from ? [own.from] : []), ...alike]) {
    const head = other === path || found.has(other) ? undefined : readHead(other);
    if (head && head.first === own.first && isOlder([head, other], [own, path])) found.set(other, head);
    if (found.size === maxMembers) break;
  }
  return [...found].toSorted(([, one], [, other]) => one.createdAt - other.createdAt);
}

export async function findSurroundings({ path, isStored }: Input, prefix = ""): Promise<PiSurroundings> {
  const own = readHead(path);
  const from = own?.from;
  const isGone = from !== undefined && !readHead(from) && !readHead(join(dirname(path), basename(from)));
  const goneId = isGone ? parseSessionId(from) : undefined;
  const storedId = goneId !== undefined && isStored?.(prefix + goneId) ? goneId : undefined;
  const older = findOlder(path, own);
  const members = await Promise.all(older.map(([file, { id }]) => readMember(file, prefix + id)));
  const isTwin = older.some(([, { id }]) => id === own?.id);
  return { originals: new Originals(members), storedId, prefix, isTwin };
}

/** Anything but `TIME_ID.jsonl` and `ID.jsonl` is an id itself. */
export const parseSessionId = (path: string): string =>
  (path.split(/[/\\]/).at(-1) ?? path).replace(/\.jsonl$/, "").replace(/^\d{4}-\d\d-\d\dT[\d-]+Z_/, "");

const isOlder = ([one, path]: [PiHead, string], [other, otherPath]: [PiHead, string]): boolean =>
  one.createdAt < other.createdAt || (one.createdAt === other.createdAt && path < otherPath);

function readFolder(folder: string): ReadonlyMap<string, string[]> {
  try {
    const { mtimeMs } = statSync(folder);
    const known = folders.get(folder);
    if (known?.mtimeMs === mtimeMs) return known.byFirst;
    const byFirst = new Map<string, string[]>();
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      const first = name.endsWith(".jsonl") ? readHead(path)?.first : undefined;
      if (first !== undefined) byFirst.set(first, [...(byFirst.get(first) ?? []), path]);
    }
    folders.set(folder, { mtimeMs, byFirst });
    return byFirst;
  } catch (error) {
    if (isMissingOrForbidden(error)) return new Map();
    throw error;
  }
}

function readHead(path: string): PiHead | undefined {
  const known = heads.get(path);
  if (known && existsSync(path)) return known;
  let session: Fields | undefined;
  for (const line of readBeginningOrNothing(path).toString().split("\n").slice(0, -1)) {
    const record = parseJson(line);
    if (!isFields(record)) continue;
    if (record.type === "session") session ??= record;
    else if (session && record.type !== "title") {
      const head = makeHead(session, path, makeEntryKey(record));
      heads.set(path, head);
      return head;
    }
  }
  return session && makeHead(session, path, undefined);
}

function makeHead(session: Fields, path: string, first: string | undefined): PiHead {
  const createdAt = Date.parse(asTimestamp(session.timestamp) ?? "") || 0;
  const from = asString(session.branchedFrom) ?? asString(session.parentSession);
  return { id: asString(session.id) ?? parseSessionId(path), createdAt, from, first };
}

async function readMember(path: string, sourceId: string) {
  const keys = new Set<string>();
  await readRecords(path, silentSink, (record) => {
    const key = makeEntryKey(record);
    if (key) keys.add(key);
  });
  return { sourceId, has: (key: string) => keys.has(key) };
}
