// SQL: sets of look-ups in the search's snapshot.
import "server-only";
import type { PoolClient } from "pg";
import { Prisma } from "#lib/generated/prisma/client";
import { isSelected, type PlainSelection } from "#lib/search/sql/selection";

type Scored = { blockId: string; slot: number; score: number };

/** Bonus for recent traces, and its half-life in days. */
const fresh = { more: 0.12, days: 45 };

/** Best first. The limits force look-ups. */
export async function readRankedTraces(
  tx: PoolClient,
  userId: string,
  selection: PlainSelection,
  ranked: Scored[],
  limit: number,
): Promise<{ id: string; score: number }[]> {
  const { rows } = await tx.query<{ id: string; score: number }>(Prisma.sql`
    with hit as materialized (
      select found.trace_id, max(given.score) as score
      from unnest(${ranked.map(({ blockId }) => blockId)}::bigint[], ${ranked.map(({ slot }) => slot)}::smallint[],
        ${ranked.map(({ score }) => score)}::float8[]) as given (block_id, slot, score)
      cross join lateral (select trace_id from search_document where user_id = ${userId}
        and search_document.block_id = given.block_id and search_document.slot = given.slot limit 1) as found
      group by found.trace_id)
    select same.id, hit.score * (1 + ${fresh.more}::float8 * power(0.5::float8,
      least(100, greatest(0, extract(epoch from now() - same.activity_at)::float8 / 86400) / ${fresh.days}::float8))) as score
    from hit cross join lateral (
      select id, activity_at from trace where ${isSelected(userId, selection)} and id = hit.trace_id limit 1) as same
    order by score desc, same.activity_at desc, same.id limit ${limit}`);
  return rows;
}
