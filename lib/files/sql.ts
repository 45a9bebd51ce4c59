// SQL: measured plans (docs/decisions/0047).
import "server-only";
import type { PoolClient } from "pg";
import type { FileAction } from "#lib/files/schema";
import { Prisma } from "#lib/generated/prisma/client";
import type { FileTerm } from "#lib/search/query";
import { rarest } from "#lib/search/sql/file-search";
import { isNamed, isSelected, listOrder, type PlainSelection, shownTitle } from "#lib/search/sql/selection";

export type FileRow = {
  path: string;
  reads: number;
  edits: number;
  added: number;
  removed: number;
  firstPosition: number;
  lastPosition: number;
};

const isChange = Prisma.sql`action <> 'read'`;

const sums = Prisma.sql`path, count(*) filter (where action = 'read')::int as reads,
  count(*) filter (where ${isChange})::int as edits, sum(added)::float8 as added, sum(removed)::float8 as removed,
  min(position) as "firstPosition", max(position) as "lastPosition"`;

const having: Record<FileAction, Prisma.Sql> = {
  any: Prisma.empty,
  changed: Prisma.sql`having bool_or(${isChange})`,
  read: Prisma.sql`having bool_or(action = 'read')`,
};

/** Changed files first, then by first place. */
type FilePlace = [isRead: boolean, firstPosition: number, path: string];

type TraceFileRow = FileRow & { places: [number, number, number][]; files: string; rows: string };

export async function readTraceFiles(
  tx: PoolClient,
  userId: string,
  traceId: string,
  page: { action: FileAction; after: FilePlace | undefined; limit: number; maxPlaces: number },
): Promise<TraceFileRow[]> {
  const { action, after, limit, maxPlaces } = page;
  const place = Prisma.sql`array_agg(array[position, added, removed] order by position)`;
  const rest = after
    ? Prisma.sql`where (edits = 0, "firstPosition", path collate "C") > (${after[0]}, ${after[1]}::int, ${after[2]}::text)`
    : Prisma.empty;
  const { rows } = await tx.query<TraceFileRow>(Prisma.sql`
    select * from (select ${sums}, count(*) over () as files, sum(count(*)) over () as rows,
        (coalesce(${place} filter (where ${isChange}), ${place}))[1:${maxPlaces}::int] as places
      from trace_file where user_id = ${userId} and trace_id = ${traceId} group by path ${having[action]}) as summed
    ${rest} order by edits = 0, "firstPosition", path collate "C" limit ${limit}`);
  return rows;
}

type TouchPlace = { activityAt: Date | string; id: string; path: string };

type TouchingRow = FileRow & {
  traceId: string;
  source: string;
  title: string | null;
  project: string | null;
  activityAt: Date;
  storedAt: Date;
  dated: boolean;
};

export async function readTouching(
  tx: PoolClient,
  userId: string,
  file: FileTerm,
  selection: PlainSelection,
  page: { action: FileAction; after: TouchPlace | undefined; limit: number },
): Promise<TouchingRow[]> {
  const { action, after, limit } = page;
  const fields = Prisma.sql`id, source, ${shownTitle} as title, project, activity_at, stored_at, dated`;
  const from = after ? Prisma.sql`and (activity_at, id) <= (${after.activityAt}, ${after.id}::uuid)` : Prisma.empty;
  const rest = after
    ? Prisma.sql`where (activity_at, id) < (${after.activityAt}, ${after.id}::uuid) or path collate "C" > ${after.path}`
    : Prisma.empty;
  const rare = await rarest(tx, userId, [file]);
  const listed = rare
    ? Prisma.sql`(select distinct trace_id from trace_file where user_id = ${userId} and ${isNamed(file)}) as hit
        cross join lateral (select ${fields} from trace where ${isSelected(userId, selection)} and id = hit.trace_id ${from}
          limit 1) as trace`
    : Prisma.sql`(select ${fields} from trace where ${isSelected(userId, selection)} ${from} ${listOrder({})}) as trace`;
  if (!rare) await tx.query("set local enable_sort = off");
  const { rows } = await tx.query<TouchingRow>(Prisma.sql`
    select trace.id as "traceId", source, title, project, activity_at as "activityAt", stored_at as "storedAt", dated, found.*
    from ${listed} cross join lateral (select ${sums} from trace_file
      where user_id = ${userId} and trace_id = trace.id and ${isNamed(file)} group by path ${having[action]}) as found
    ${rest} order by activity_at desc, id desc, path collate "C" limit ${limit}`);
  return rows;
}
