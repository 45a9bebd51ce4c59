// Two ways to order hits, of which lib/search/search-traces.ts chooses the cheaper. SQL: hits are bits, and each plan is forced.
import "server-only";
import type { PoolClient } from "pg";
import { Prisma } from "#lib/generated/prisma/client";
import type { Hits } from "#lib/search/index/find-documents";
import { isHit } from "#lib/search/index/sql/block-rows";
import { comesAfter, isSelected, type ListPlace, listOrder, type PlainSelection } from "#lib/search/sql/selection";

export type SearchScope = { userId: string; selection: PlainSelection; after: ListPlace | undefined };

const isInScope = ({ userId, selection, after }: SearchScope) =>
  Prisma.join([isSelected(userId, selection), ...(after ? [comesAfter(selection, after)] : [])], " and ");

/** Undefined if the first `maxRows` rows have too few hits and the list continues. */
export async function scanList(
  tx: PoolClient,
  scope: SearchScope,
  hits: Hits,
  { limit, maxRows }: { limit: number; maxRows: number },
): Promise<string[] | undefined> {
  // The planner multiplies filter selectivities, and would sort the whole list.
  const [, ids] = await Promise.all([
    tx.query("set local enable_sort = off"),
    readIds(
      tx,
      Prisma.sql`select id from (
          select id, activity_at, children_at from trace where ${isInScope(scope)} ${listOrder(scope.selection)} limit ${maxRows}) as listed
        cross join lateral (select from search_document where user_id = ${scope.userId} and trace_id = listed.id
          and ${isHit(hits)} limit 1) as hit
        ${listOrder(scope.selection)} limit ${limit}`,
    ),
  ]);
  await tx.query("set local enable_sort = on");
  if (ids.length === limit) return ids;
  const { rowCount } = await tx.query(Prisma.sql`select from trace where ${isInScope(scope)} limit ${maxRows}`);
  return (rowCount ?? 0) < maxRows ? ids : undefined;
}

/** The limits force look-ups. */
export async function lookUpHits(
  tx: PoolClient,
  scope: SearchScope,
  places: [blockId: string, slot: number][],
  limit: number,
): Promise<string[]> {
  const blockIds = places.map(([blockId]) => blockId);
  const slots = places.map(([, slot]) => slot);
  return readIds(
    tx,
    Prisma.sql`with hit as materialized (
        select distinct found.trace_id from unnest(${blockIds}::bigint[], ${slots}::smallint[]) as given (block_id, slot)
        cross join lateral (select trace_id from search_document where user_id = ${scope.userId}
          and search_document.block_id = given.block_id and search_document.slot = given.slot limit 1) as found)
      select same.id from hit cross join lateral (
        select id, activity_at, children_at from trace where ${isInScope(scope)} and id = hit.trace_id limit 1) as same
      ${listOrder(scope.selection)} limit ${limit}`,
  );
}

async function readIds(tx: PoolClient, statement: Prisma.Sql): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(statement);
  return rows.map(({ id }) => id);
}
