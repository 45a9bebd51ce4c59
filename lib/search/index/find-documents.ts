import "server-only";
import type { PoolClient } from "pg";
import { prisma } from "#lib/db/client";
import { type Bucket, findSlots, getBucket } from "#lib/search/index/block";
import { type Expanded, expand } from "#lib/search/index/expand";
import { keepSlots, knownSlots } from "#lib/search/index/known-slots";
import { countSlots, hasBit, maxDocuments, maxSlots, orInto, setBit, slotsWith } from "#lib/search/index/posting";
import { type BlockHead, type HitBits, readBlockHeads, readBuckets, readParts } from "#lib/search/index/sql/block-rows";
import type { QueryUnit } from "#lib/search/index/unit";
import type { QueryGroup, SearchQuery } from "#lib/search/query";

export type Hits = HitBits & { count: number; documents: number };

export type BlockMatch = { id: string; ofUnits: (Buffer | undefined)[]; slots: Buffer };

/**
 * @param tx must be a snapshot, since blocks are merged at any time
 * @param onlyProjectId excludes other projects' documents, and what could reveal them
 */
export async function findDocuments(
  tx: PoolClient,
  userId: string,
  query: SearchQuery,
  onlyProjectId?: string,
): Promise<Hits> {
  return hitsIn(await matchBlocks(tx, userId, query, onlyProjectId));
}

export async function matchBlocks(
  tx: PoolClient,
  userId: string,
  query: SearchQuery,
  onlyProjectId?: string,
): Promise<Matched> {
  const heads = await readBlockHeads(tx, userId, onlyProjectId);
  const units = query.groups.flatMap((group) => group.units);
  const read = await readTerms(tx, userId, heads, () => units.flatMap(({ alternatives }) => alternatives.flat()));
  const expanded = await expand(tx, userId, heads, onlyProjectId ? new Map() : selectRare(units, read));
  await readLonger(tx, userId, heads, expanded, read);
  const blocks = heads.map(({ id, only }, place) => {
    const ofUnits = units.map((unit, at) =>
      findUnitSlots(unit, expanded.get(at)?.terms[place] ?? [], read[place] as TermSlots),
    );
    return { id, ofUnits, slots: evaluate(query.groups, ofUnits, only) };
  });
  if (units.length > 1 || query.groups.some(({ excluded }) => excluded))
    await joinParts(tx, userId, query.groups, blocks, onlyProjectId);
  return { heads, groups: query.groups, units, blocks, expanded };
}

export type Matched = {
  heads: BlockHead[];
  groups: QueryGroup[];
  units: QueryUnit[];
  blocks: BlockMatch[];
  expanded: Map<number, Expanded>;
};

export type TermSlots = Map<number, Uint16Array>;

type Missing = { key: string; place: number; term: number; bucket: number };

export async function readTerms(
  tx: PoolClient,
  userId: string,
  heads: BlockHead[],
  termsOf: (place: number) => number[],
): Promise<TermSlots[]> {
  const read: TermSlots[] = heads.map(() => new Map());
  const ofTerms = new Map<number, ReturnType<typeof knownSlots>>();
  const missing: (Pick<BlockHead, "id" | "bits"> & Missing)[] = [];
  for (const [place, head] of heads.entries()) {
    const { id, bits, key } = head;
    for (const term of new Set(termsOf(place))) {
      if (!ofTerms.has(term)) ofTerms.set(term, knownSlots(userId, term));
      const known = ofTerms.get(term)?.get(key);
      if (known) read[place]?.set(term, ownSlots(known, head));
      else missing.push({ id, bits, key, place, term, bucket: getBucket(term, bits) });
    }
  }
  if (missing.length === 0) return read;
  const buckets = await readBuckets(tx, userId, missing);
  const found = new Map<number, Map<string, Uint16Array>>();
  for (const [at, { key, place, term, bits }] of missing.entries()) {
    const slots = findSlots(term, buckets[at] as Bucket, bits);
    read[place]?.set(term, ownSlots(slots, heads[place] as BlockHead));
    const ofBlocks = found.get(term) ?? new Map<string, Uint16Array>();
    found.set(term, ofBlocks.set(key, slots));
  }
  keepSlots(userId, heads, found);
  return read;
}

const ownSlots = (slots: Uint16Array, { only }: BlockHead): Uint16Array =>
  only ? slots.filter((slot) => hasBit(only, slot)) : slots;

/** A more common word matches only itself. */
const common = 1000;

function selectRare(units: QueryUnit[], read: TermSlots[]): Map<number, QueryUnit> {
  const isRare = ({ alternatives: [[term = 0] = []] }: QueryUnit) =>
    read.reduce((sum, terms) => sum + (terms.get(term)?.length ?? 0), 0) < common;
  return new Map([...units.entries()].filter(([, unit]) => isRare(unit)));
}

async function readLonger(
  tx: PoolClient,
  userId: string,
  heads: BlockHead[],
  expanded: Map<number, Expanded>,
  read: TermSlots[],
): Promise<void> {
  const all = [...expanded.values()];
  const longer = await readTerms(tx, userId, heads, (place) => all.flatMap(({ terms }) => terms[place] ?? []));
  for (const [place, terms] of longer.entries()) for (const [term, slots] of terms) read[place]?.set(term, slots);
}

function findUnitSlots({ alternatives }: QueryUnit, longer: number[], terms: TermSlots): Buffer | undefined {
  let found: Buffer | undefined;
  for (const form of [...alternatives, ...longer.map((term) => [term])]) {
    const slots = intersect(form.map((term) => terms.get(term) ?? noSlots));
    if (slots) found = found ? orInto(found, slots) : slots;
  }
  return found;
}

const noSlots = new Uint16Array();

function intersect(lists: Uint16Array[]): Buffer | undefined {
  let common: Buffer | undefined;
  for (const list of lists) {
    const earlier = common;
    const kept = earlier ? list.filter((slot) => hasBit(earlier, slot)) : list;
    if (kept.length === 0) return undefined;
    common = slotsWith(kept);
  }
  return common;
}

function evaluate(groups: QueryGroup[], ofUnits: (Buffer | undefined)[], only: Buffer | undefined): Buffer {
  const left = only ? Buffer.from(only) : Buffer.alloc(maxSlots, 0xff);
  let at = 0;
  for (const { units, excluded, optional } of groups) {
    const own = ofUnits.slice(at, at + units.length).filter((slots) => slots !== undefined);
    at += units.length;
    if (optional) continue;
    const any = own.reduce(orInto, Buffer.alloc(maxSlots));
    for (let byte = 0; byte < maxSlots; byte += 1)
      left[byte] = (left[byte] as number) & (excluded ? ~(any[byte] as number) : (any[byte] as number));
  }
  return left;
}

/** A trace split into several documents matches if they contain the query's words together. */
async function joinParts(
  tx: PoolClient,
  userId: string,
  groups: QueryGroup[],
  blocks: BlockMatch[],
  onlyProjectId: string | undefined,
): Promise<void> {
  const byId = new Map(blocks.map((block) => [block.id, block]));
  const isPositive = groups.flatMap(({ units, excluded, optional }) => units.map(() => !excluded && !optional));
  const isAnyEnough = !isPositive.includes(true);
  const rows = await readParts(tx, userId, onlyProjectId);
  for (const parts of Map.groupBy(rows, ({ traceId }) => traceId).values()) {
    const having = parts.map(({ blockId, slot }) =>
      (byId.get(blockId)?.ofUnits ?? []).map((slots) => slots !== undefined && hasBit(slots, slot)),
    );
    const together = isPositive.map((_, unit) => having.some((own) => own[unit]));
    const isHit = isLeft(groups, together);
    for (const [place, { blockId, slot }] of parts.entries()) {
      const hasOne = isAnyEnough || having[place]?.some((has, unit) => has && isPositive[unit]);
      const block = byId.get(blockId);
      if (block) setBit(block.slots, slot, isHit && hasOne === true);
    }
  }
}

function isLeft(groups: QueryGroup[], having: boolean[]): boolean {
  let at = 0;
  return groups.every(({ units, excluded, optional }) => {
    const any = having.slice(at, at + units.length).includes(true);
    at += units.length;
    return optional || any !== excluded;
  });
}

export function hitsIn({ blocks, heads }: Pick<Matched, "blocks" | "heads">): Hits {
  const found = blocks.filter((block) => block.slots.some((byte) => byte !== 0));
  const slots = Buffer.concat(found.map((block) => block.slots));
  const documents = heads.reduce((sum, head) => sum + head.documents, 0);
  // Exclusion alone also leaves slots that have no document.
  return { blockIds: found.map(({ id }) => id), slots, count: Math.min(countSlots(slots), documents), documents };
}

export function* iterateHits({ blockIds, slots }: Hits): Generator<[blockId: string, slot: number]> {
  for (const [place, id] of blockIds.entries()) {
    for (let slot = 0; slot < maxDocuments; slot += 1) {
      if (hasBit(slots, place * maxDocuments + slot)) yield [id, slot];
    }
  }
}

const maxCounted = 1000;

/** Counts up to 1000. */
export function countPending(userId: string): Promise<number> {
  return prisma().trace.count({ where: { userId, searchPending: true, deletedAt: null }, take: maxCounted });
}
