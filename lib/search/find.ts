import "server-only";
import type { PoolClient } from "pg";
import { pool } from "#lib/db/client";
import { type Bucket, bucketOf, maxDocuments, slotsOf } from "#lib/search/block";
import type { Query } from "#lib/search/query";

/**
 * The documents that have all words and phrases of a query, and those that have some of them, of sessions whose documents have
 * all together: for each block that has such ones, in the order of `blockIds`, 4,096 bits of `slots`, as `get_bit` counts
 * them. `count` of the user's `documents` are it.
 */
export type Hits = { blockIds: string[]; slots: Buffer; count: number; documents: number };

/**
 * Finds the documents of a user in which a query is found. Reads one bucket of each block for each term, about a
 * kilobyte each, however common a term is.
 *
 * @param tx of `snapshot`: blocks are merged at any time.
 */
export async function findDocuments(tx: PoolClient, userId: string, { units }: Query): Promise<Hits> {
  const terms = [...new Set(units.flatMap((unit) => unit.terms))];
  const { rows: blocks } = await tx.query<{ id: string; bits: number; documents: number }>(
    "select id, bits, documents from search_block where user_id = $1",
    [userId],
  );
  const wanted = blocks.flatMap(({ id, bits }) => terms.map((term) => ({ id, bucket: bucketOf(term, bits) })));
  const rows = await readBuckets(tx, userId, wanted);
  const read = blocks.map(({ id, bits }, place) => {
    const bucketOfTerm = (term: number) => rows[place * terms.length + terms.indexOf(term)] as Bucket;
    const ofUnits = units.map((unit) => intersect(unit.terms, unit.terms.map(bucketOfTerm), bits));
    return { id, ofUnits, slots: commonOf(ofUnits) };
  });
  if (units.length > 1) await addParted(tx, userId, read);
  const found = read.filter((block) => block.slots.some((byte) => byte !== 0));
  const slots = Buffer.concat(found.map((block) => block.slots));
  const documents = blocks.reduce((sum, block) => sum + block.documents, 0);
  return { blockIds: found.map(({ id }) => id), slots, count: countBits(slots), documents };
}

/**
 * The condition that a row of `search_document` is a hit.
 *
 * @param values are the statement's; those of the condition are pushed behind them.
 */
export function isHit({ blockIds, slots }: Hits, values: unknown[]): string {
  const [ids, bits] = [values.push(blockIds), values.push(slots)];
  const block = `array_position($${ids}::bigint[], search_document.block_id) - 1`;
  return `get_bit($${bits}::bytea, (${block})::bigint * ${maxDocuments} + search_document.slot) = 1`;
}

/** The buckets in the order in which they are asked for; a missing one is empty. */
async function readBuckets(
  tx: PoolClient,
  userId: string,
  wanted: { id: string; bucket: number }[],
): Promise<Bucket[]> {
  const { rows } = await tx.query<{ bucket: number; postings: Buffer | null }>(
    // The limit makes it one look-up for each, whatever the planner expects of the table.
    `select wanted.bucket, found.postings
     from unnest($2::bigint[], $3::int[]) with ordinality as wanted (block_id, bucket, place)
     left join lateral (select postings from search_bucket where user_id = $1 and block_id = wanted.block_id
       and bucket = wanted.bucket limit 1) as found on true order by place`,
    [userId, wanted.map(({ id }) => id), wanted.map(({ bucket }) => bucket)],
  );
  return rows.map(({ bucket, postings }) => ({ bucket, postings: postings ?? Buffer.alloc(0) }));
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

type Read = { id: string; ofUnits: (Buffer | undefined)[]; slots: Buffer };

/** Adds to the slots of blocks the documents of very long sessions that have all units, but none of their documents does. */
async function addParted(tx: PoolClient, userId: string, blocks: Read[]): Promise<void> {
  const byId = new Map(blocks.map((block) => [block.id, block]));
  const { rows } = await tx.query<{ traceId: string; blockId: string; slot: number }>(
    `select trace_id as "traceId", block_id as "blockId", slot from search_document where user_id = $1 and trace_id in
       (select trace_id from search_document where user_id = $1 and first_position > 0)`,
    [userId],
  );
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

/** How many sessions of a user are not yet searchable, counted up to a thousand. */
export async function searchLag(userId: string): Promise<number> {
  const { rows } = await pool().query<{ count: number }>(
    `select count(*)::int as count from (
       select from trace where user_id = $1 and search_pending and deleted_at is null limit $2) as waiting`,
    [userId, maxCounted],
  );
  return rows[0]?.count ?? 0;
}
