import "server-only";
import type { PoolClient } from "pg";
import { pool } from "#lib/db/client";
import { type Bucket, bucketOf, slotsOf } from "#lib/search/block";
import type { Query } from "#lib/search/query";

/** The documents that have all terms of a query: the slots of each block, in their order. */
export type Hits = { slots: Map<string, Set<number>>; count: number };

/**
 * Finds the documents of a user that have all terms of a query. Reads one bucket of each block for each term, about a
 * kilobyte each, however common a term is.
 *
 * @param tx of `snapshot`: blocks are merged at any time.
 */
export async function findDocuments(tx: PoolClient, userId: string, { units }: Query): Promise<Hits> {
  const terms = [...new Set(units.flatMap((unit) => unit.terms))];
  const { rows: blocks } = await tx.query<{ id: string; bits: number }>(
    "select id, bits from search_block where user_id = $1",
    [userId],
  );
  const wanted = blocks.flatMap(({ id, bits }) => terms.map((term) => ({ id, bucket: bucketOf(term, bits) })));
  const rows = await readBuckets(tx, userId, wanted);
  const slots = new Map<string, Set<number>>();
  let count = 0;
  blocks.forEach(({ id, bits }, place) => {
    const buckets = rows.slice(place * terms.length, (place + 1) * terms.length);
    const common = intersect(terms, buckets, bits);
    if (common.size > 0) slots.set(id, common);
    count += common.size;
  });
  return { slots, count };
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

function intersect(terms: number[], buckets: Bucket[], bits: number): Set<number> {
  let common: Set<number> | undefined;
  for (const [place, term] of terms.entries()) {
    const slots = new Set(slotsOf(term, buckets[place] as Bucket, bits));
    common = common ? common.intersection(slots) : slots;
    if (common.size === 0) break;
  }
  return common ?? new Set();
}

const mostCounted = 1000;

/** How many sessions of a user are not yet searchable, counted up to a thousand. */
export async function searchLag(userId: string): Promise<number> {
  const { rows } = await pool().query<{ count: number }>(
    `select count(*)::int as count from (
       select from trace where user_id = $1 and search_pending and deleted_at is null limit $2) as waiting`,
    [userId, mostCounted],
  );
  return rows[0]?.count ?? 0;
}
