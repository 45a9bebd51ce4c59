// SQL: a bounded sort in a heavy read, since every upload would have to maintain an index per order.
import "server-only";
import { instant } from "#lib/core/fields";
import { heavyRead } from "#lib/db/heavy";
import { Prisma } from "#lib/generated/prisma/client";
import { isSelected, type PlainSelection, selectMoment } from "#lib/search/sql/selection";
import type { Sort } from "#lib/traces/schema";
import { type ListedRow, listedColumns } from "#lib/traces/sql/list";

type Other = Exclude<Sort, "activity">;

const keys = {
  start: { column: Prisma.raw("coalesce(created_at, activity_at)"), type: Prisma.raw("timestamptz") },
  cost: { column: Prisma.raw("cost_nano"), type: Prisma.raw("bigint") },
  length: { column: Prisma.raw("message_count"), type: Prisma.raw("int") },
} satisfies Record<Other, unknown>;

export const isSortKey = (sort: Other, key: string): boolean =>
  sort === "start"
    ? instant.safeParse(key).success
    : /^\d{1,18}$/.test(key) && (sort === "cost" || Number(key) < 2 ** 31);

type SortedRow = ListedRow & { sortKey: string };

/**
 * Ends the page when its metadata exceeds `maxBytes`.
 * @returns whether the page ended early
 */
export async function readSorted(
  userId: string,
  selection: PlainSelection,
  sort: Other,
  { after, limit, maxBytes }: { after: { key: string; id: string } | undefined; limit: number; maxBytes: number },
): Promise<{ rows: SortedRow[]; isCut: boolean }> {
  const { column, type } = keys[sort];
  const rest = after ? Prisma.sql`and (${column}, id) < (${after.key}::${type}, ${after.id}::uuid)` : Prisma.empty;
  const key =
    sort === "start" ? Prisma.sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MSZ')` : column;
  const { rows } = await heavyRead(userId, (tx) =>
    tx.query<SortedRow & { found: string; before: string; key: unknown }>(Prisma.sql`
      select *, ${key}::text as "sortKey" from (
        select page.*, count(*) over () as found, coalesce(sum(octet_length(metadata::text)) over (order by key desc, id desc
          rows between unbounded preceding and 1 preceding), 0) as before
        from (
          select ${listedColumns}, ${selectMoment(selection)} as "latestAt", ${column} as key, created_at, activity_at, cost_nano,
            message_count
          from trace where ${isSelected(userId, selection)} ${rest} order by ${column} desc, id desc limit ${limit}) page
      ) measured where before < ${maxBytes} order by key desc, id desc`),
  );
  const found = Number(rows[0]?.found ?? 0);
  return { rows, isCut: rows.length < found };
}
