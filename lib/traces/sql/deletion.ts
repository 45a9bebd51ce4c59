import "server-only";
import { type Db, pool, prisma } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import { Prisma } from "#lib/generated/prisma/client";
import { isSelected, type PlainSelection } from "#lib/search/sql/selection";

export type SelectionCount = {
  traces: number;
  messages: number;
  /** Identifies the set of traces: XOR of a 64-bit hash of each id. */
  mark: string;
};

const counts = Prisma.sql`count(*)::int as traces, coalesce(sum(message_count), 0)::float8 as messages,
  coalesce(bit_xor(hashtextextended(id::text, 0)), 0)::text as mark`;

/** At a moment by the database's clock. SQL: Prisma can't aggregate an expression. */
export async function countSelected(
  userId: string,
  selection: PlainSelection,
): Promise<SelectionCount & { now: Date }> {
  const statement = Prisma.sql`select ${counts}, now() from trace where ${isSelected(userId, selection)}`;
  const { rows } = await heavyRead(userId, (tx) => tx.query<SelectionCount & { now: Date }>(statement));
  const [row] = rows;
  if (!row) throw new Error("a count has one row");
  return row;
}

/** In the order in which uploads lock them, to avoid deadlocks. SQL: Prisma takes no locks. */
export async function lockSelected(
  tx: Db,
  userId: string,
  selection: PlainSelection,
): Promise<SelectionCount & { ids: string[] }> {
  const [row] = await tx.$queryRaw<(SelectionCount & { ids: string[] })[]>`
    with locked as materialized (
      select id, message_count from trace where ${isSelected(userId, selection)}
      order by source collate "C", source_id collate "C" for update)
    select ${counts}, coalesce(array_agg(id), '{}') as ids from locked`;
  if (!row) throw new Error("a count has one row");
  return row;
}

/** SQL: rows locked by others are left to the ledger, since waiting could deadlock with an upload. */
export async function releaseChildren(userId: string, ids: string[]): Promise<void> {
  await pool().query(
    `update trace set parent_id = null, parent_position = null from (
       select id from trace where user_id = $1 and parent_id = any($2) and deleted_at is null
       for no key update skip locked) as child
     where trace.user_id = $1 and trace.id = child.id`,
    [userId, ids],
  );
}

export async function forgetInJobs(): Promise<void> {
  const users = await prisma().trace.groupBy({ by: ["userId"], where: { deletedAt: { not: null } } });
  for (const { userId } of users) await forgetInUserJobs(userId);
}

/** SQL: Prisma can't remove list elements; a join avoids comparing every pair. */
async function forgetInUserJobs(userId: string): Promise<void> {
  await pool().query(
    `with stale as (
       select job.id, array_agg(written.id order by place) filter (where deleted_at is null) as live
       from ingest_job job
       cross join lateral unnest(written_trace_ids) with ordinality as written (id, place)
       join trace on trace.user_id = $1 and trace.id = written.id
       where job.user_id = $1
       group by job.id having bool_or(deleted_at is not null))
     update ingest_job job set written_trace_ids = coalesce(live, '{}') from stale
     where job.user_id = $1 and job.id = stale.id`,
    [userId],
  );
}

/** Tombstones whose messages are not purged. SQL: `skip locked`, so that several processes can purge. */
export async function lockUnpurged(
  tx: Db,
  userId: string,
  limit: number,
): Promise<{ id: string; messageCount: number }[]> {
  return tx.$queryRaw`
    select id, message_count as "messageCount" from trace
    where user_id = ${userId}::uuid and deleted_at is not null and message_count > 0
    limit ${limit} for update skip locked`;
}
