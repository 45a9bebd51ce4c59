import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isMissingOrForbidden } from "../../../files/discovery.ts";
import { readRecords } from "../../../files/json-lines.ts";
import { silentSink } from "../../sinks.ts";
import { isRequestLine } from "../line-types.ts";
import { readFolder, readHead } from "./heads.ts";
import { getLineKey } from "./known-lines.ts";

export type FamilyMember = {
  path: string;
  sourceId: string;
  /** In milliseconds since 1970. */
  createdAt: number;
  lines: Set<number>;
  keys: number[];
  /** In milliseconds since 1970. */
  times: number[];
};

const maxMembers = 256;

/**
 * Files are related if they begin with the same message, or if one names the other. If only one leads to the other,
 * that one is older; otherwise the one whose own lines begin first.
 */
export async function findOlder(path: string): Promise<FamilyMember[]> {
  const related = await findRelatives(path);
  if (related.size < 2) return [];
  const own = getSessionId(path);
  const [named, mutual]: [string[], string[]] = [[], [path]];
  for (const one of related) {
    if (one === path || getSessionId(one) === own) continue;
    const isMutual = (await findRelatives(one)).has(path);
    (isMutual ? mutual : named).push(one);
  }
  const alike = sortByBeginning(await readMembers(mutual));
  return [
    ...(await readMembers(named)),
    ...alike.slice(
      0,
      alike.findIndex((one) => one.path === path),
    ),
  ];
}

export async function findGone(path: string): Promise<string[]> {
  const gone: string[] = [];
  for (const id of readHead(path).named) if ((await findNamed(id, dirname(path))).length === 0) gone.push(id);
  return gone;
}

const getSessionId = (path: string): string => basename(path, ".jsonl");

async function findRelatives(path: string): Promise<Set<string>> {
  const related = new Set([path]);
  for (const one of related) {
    if (related.size > maxMembers) break;
    const { first, named } = readHead(one);
    const folder = dirname(one);
    if (first !== undefined)
      for (const other of (await readFolder(folder)).byFirst.get(first) ?? []) related.add(other);
    for (const id of named) for (const other of await findNamed(id, folder)) related.add(other);
  }
  return related;
}

async function findNamed(id: string, folder: string): Promise<string[]> {
  const directFile = join(folder, `${id}.jsonl`);
  if (isFile(directFile)) return [directFile];
  return listSiblingFolders(folder)
    .map((name) => join(name, `${id}.jsonl`))
    .filter(isFile)
    .slice(0, 1);
}

function listSiblingFolders(folder: string): string[] {
  try {
    const entries = readdirSync(dirname(folder), { withFileTypes: true });
    return entries.filter((one) => one.isDirectory()).map(({ name }) => join(dirname(folder), name));
  } catch (error) {
    if (isMissingOrForbidden(error)) return [];
    throw error;
  }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const known = new Map<string, { stamp: string; member: FamilyMember }>();
const maxKnownLines = 1_000_000;

async function readMembers(paths: readonly string[]): Promise<FamilyMember[]> {
  const members: FamilyMember[] = [];
  for (const path of [...paths].sort()) {
    const member = await readMember(path);
    if (member) members.push(member);
  }
  return members;
}

export async function readMember(path: string): Promise<FamilyMember | undefined> {
  try {
    const { size, mtimeMs, birthtimeMs } = statSync(path);
    const stamp = `${size}:${mtimeMs}`;
    const before = known.get(path);
    if (before?.stamp === stamp) return before.member;
    const member = await readLinesFrom({ path, createdAt: birthtimeMs });
    known.set(path, { stamp, member });
    forgetOldest();
    return member;
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}

async function readLinesFrom({ path, createdAt }: Pick<FamilyMember, "path" | "createdAt">): Promise<FamilyMember> {
  const member: FamilyMember = { path, sourceId: getSessionId(path), createdAt, lines: new Set(), keys: [], times: [] };
  const take = (record: Parameters<typeof getLineKey>[0]) => {
    const key = getLineKey(record);
    if (key === undefined) return;
    member.lines.add(key);
    member.keys.push(key);
    member.times.push(Date.parse(record.timestamp as string));
  };
  await readRecords(path, silentSink, take, { isSkipped: isRequestLine });
  return member;
}

function forgetOldest(): void {
  let lines = 0;
  for (const { member } of known.values()) lines += member.keys.length;
  for (const [path, { member }] of known) {
    if (lines <= maxKnownLines || known.size === 1) return;
    known.delete(path);
    lines -= member.keys.length;
  }
}

/**
 * The first own line of a copied file is earlier than the file. A session that names another one began after it, unless
 * each names the other.
 */
function sortByBeginning(members: FamilyMember[]): FamilyMember[] {
  const began = new Map(members.map((one) => [one, Math.min(one.createdAt, findOwnBeginning(one, members))]));
  putBehindNamed(members, began);
  const compare = (a: FamilyMember, b: FamilyMember) =>
    (began.get(a) ?? 0) - (began.get(b) ?? 0) ||
    a.keys.length - b.keys.length ||
    a.createdAt - b.createdAt ||
    (a.path < b.path ? -1 : 1);
  return members.toSorted(compare);
}

function putBehindNamed(members: FamilyMember[], began: Map<FamilyMember, number>): void {
  const names = (one: FamilyMember, other: FamilyMember) => readHead(one.path).named.has(other.sourceId);
  const pairs = members.flatMap((one) =>
    members.filter((other) => names(one, other) && !names(other, one)).map((other) => ({ one, other })),
  );
  // A chain settles in as many rounds as it has links; a circle never does.
  for (let round = 0; round < members.length; round++) {
    const early = pairs.filter(({ one, other }) => (began.get(one) ?? 0) <= (began.get(other) ?? 0));
    if (early.length === 0) return;
    for (const { one, other } of early) began.set(one, Math.max(began.get(one) ?? 0, (began.get(other) ?? 0) + 1));
  }
}

function findOwnBeginning({ path, keys, times }: FamilyMember, members: FamilyMember[]): number {
  const others = members.filter((one) => one.path !== path);
  const own = keys.findIndex((key) => !others.some(({ lines }) => lines.has(key)));
  return times.at(own) || 0;
}
