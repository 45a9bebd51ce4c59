// SQL: two forced plans (docs/decisions/0047).
import "server-only";
import type { PoolClient } from "pg";
import { Prisma } from "#lib/generated/prisma/client";
import type { FileTerm } from "#lib/search/query";
import type { SearchScope } from "#lib/search/sql/hits";
import { comesAfter, isNamed, isSelected, listOrder } from "#lib/search/sql/selection";

/** Above this, scanning the list finds matches soon. */
const maxLookedUp = 3000;

export async function findByFiles(tx: PoolClient, scope: SearchScope, limit: number): Promise<string[]> {
  const { userId, selection, after } = scope;
  const wanted = selection.files?.filter(({ excluded }) => !excluded) ?? [];
  const rare = await rarest(tx, userId, wanted);
  const inScope = Prisma.join(
    [isSelected(userId, selection), ...(after ? [comesAfter(selection, after)] : [])],
    " and ",
  );
  if (!rare) await tx.query("set local enable_sort = off");
  const statement = rare
    ? Prisma.sql`with hit as materialized (
          select distinct trace_id from trace_file where user_id = ${userId} and ${isNamed(rare)})
        select trace.id from hit cross join lateral (
          select id, activity_at, children_at from trace where ${inScope} and id = hit.trace_id limit 1) as trace
        ${listOrder(selection)} limit ${limit}`
    : Prisma.sql`select id from trace where ${inScope} ${listOrder(selection)} limit ${limit}`;
  const { rows } = await tx.query<{ id: string }>(statement);
  if (!rare) await tx.query("set local enable_sort = on");
  return rows.map(({ id }) => id);
}

export async function rarest(tx: PoolClient, userId: string, files: FileTerm[]): Promise<FileTerm | undefined> {
  let found: FileTerm | undefined;
  let fewest = maxLookedUp;
  for (const file of files) {
    const { rows } = await tx.query<{ count: number }>(Prisma.sql`select count(*)::int as count from (
      select from trace_file where user_id = ${userId} and ${isNamed(file)} limit ${fewest}) as counted`);
    if ((rows[0]?.count ?? 0) < fewest) [found, fewest] = [file, Math.max(1, rows[0]?.count ?? 0)];
  }
  return found;
}
