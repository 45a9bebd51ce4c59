import "server-only";
import type { PoolClient } from "pg";
import { prisma } from "#lib/db/client";
import { type Bucket, bucketOf, maxDocuments, slotsOf } from "#lib/search/block";
import type { Query } from "#lib/search/query";
import { type HitBits, readBlockHeads, readBuckets, readParts } from "#lib/search/sql/read";

/**
 * The documents that have all words and phrases of a query, and those that have some of them, of traces whose documents have
 * all together. `count` of the user's `documents` are hits.
 */
export type Hits = HitBits & { count: number; documents: number };

/**
 * Finds the documents of a user that match a query. Reads one bucket of each block for each term, about a kilobyte each,
 * however common a term is.
 *
 * @param tx of `snapshot`: blocks are merged at any time.
 */
export async function findDocuments(tx: PoolClient, userId: string, { units }: Query): Promise<Hits> {
  const terms = [...new Set(units.flatMap((unit) => unit.terms))];
  const blocks = await readBlockHeads(tx, userId);
  const wanted = blocks.flatMap(({ id, bits }) => terms.map((term) => ({ id, bucket: bucketOf(term, bits) })));
  const buckets = await readBuckets(tx, userId, wanted);
  const matches = blocks.map(({ id, bits }, place) => {
    const bucketOfTerm = (term: number) => buckets[place * terms.length + terms.indexOf(term)] as Bucket;
    const ofUnits = units.map((unit) => intersect(unit.terms, unit.terms.map(bucketOfTerm), bits));
    return { id, ofUnits, slots: commonOf(ofUnits) };
  });
  if (units.length > 1) await addParts(tx, userId, matches);
  const found = matches.filter((block) => block.slots.some((byte) => byte !== 0));
  const slots = Buffer.concat(found.map((block) => block.slots));
  const documents = blocks.reduce((sum, block) => sum + block.documents, 0);
  return { blockIds: found.map(({ id }) => id), slots, count: countBits(slots), documents };
}

/** A bit for each slot that has all terms; undefined where none has. */
function intersect(terms: number[], buckets: Bucket[], bits: number): Buffer | undefined {
  let common: Buffer | undefined;
  for (const [place, term] of terms.entries()) {
    const slots = Buffer.alloc(maxDocuments / 8);
    let left = false;
    for (const slot of slotsOf(term, buckets[place] as Bucket, bits)) {
      if (common && !hasBit(common, slot)) continue;
      setBit(slots, slot);
      left = true;
    }
    if (!left) return undefined;
    common = slots;
  }
  return common;
}

/** The slots that all units have; a unit that none has is undefined. */
function commonOf(ofUnits: (Buffer | undefined)[]): Buffer {
  const common = Buffer.alloc(maxDocuments / 8, 0xff);
  for (const slots of ofUnits) {
    if (!slots) return common.fill(0);
    for (let at = 0; at < common.length; at += 1) common[at] = (common[at] as number) & (slots[at] as number);
  }
  return common;
}

type Match = { id: string; ofUnits: (Buffer | undefined)[]; slots: Buffer };

/** Adds the documents of traces that have all units together, though none of their documents has all. */
async function addParts(tx: PoolClient, userId: string, blocks: Match[]): Promise<void> {
  const byId = new Map(blocks.map((block) => [block.id, block]));
  const rows = await readParts(tx, userId);
  for (const parts of Map.groupBy(rows, ({ traceId }) => traceId).values()) {
    const units = new Set<number>();
    const having = parts.filter(({ blockId, slot }) => {
      const own = (byId.get(blockId)?.ofUnits ?? []).flatMap((slots, unit) =>
        slots && hasBit(slots, slot) ? unit : [],
      );
      for (const unit of own) units.add(unit);
      return own.length > 0;
    });
    if (units.size < (blocks[0]?.ofUnits.length ?? 0)) continue;
    for (const { blockId, slot } of having) setBit(byId.get(blockId)?.slots, slot);
  }
}

const hasBit = (bits: Buffer, at: number) => ((bits[at >> 3] as number) & (1 << (at & 7))) !== 0;

function setBit(bits: Buffer | undefined, at: number): void {
  if (bits) bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
}

/** The block and the slot of each hit. */
export function* hitsOf({ blockIds, slots }: Hits): Generator<[blockId: string, slot: number]> {
  for (const [place, id] of blockIds.entries()) {
    for (let slot = 0; slot < maxDocuments; slot += 1) {
      if (hasBit(slots, place * maxDocuments + slot)) yield [id, slot];
    }
  }
}

function countBits(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) for (let rest = byte; rest > 0; rest &= rest - 1) count += 1;
  return count;
}

const maxCounted = 1000;

/** How many traces of a user are not yet searchable, counted up to 1000. */
export function countPending(userId: string): Promise<number> {
  return prisma().trace.count({ where: { userId, searchPending: true, deletedAt: null }, take: maxCounted });
}
