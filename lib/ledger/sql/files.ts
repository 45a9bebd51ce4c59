// The files part's rows. SQL: sets of rows of many traces, replaced and summed up in a statement each.
import "server-only";
import type { PoolClient } from "pg";
import { nameOf } from "#lib/reader/files/paths";
import { maxTouches, type Touch } from "#lib/reader/files/touches";

type Touched = { traceId: string; from: number; touches: Touch[] };

/** Replaces what traces touched at positions from `from` on. Of a trace the first 50,000 rows are kept. */
export async function replaceTouches(tx: PoolClient, userId: string, traces: Touched[]): Promise<void> {
  const [ids, from] = [traces.map(({ traceId }) => traceId), traces.map((trace) => trace.from)];
  await tx.query(
    `delete from trace_file using unnest($2::uuid[], $3::int[]) as seen (id, first)
     where user_id = $1 and trace_id = seen.id and position >= seen.first`,
    [userId, ids, from],
  );
  const rows = traces.flatMap(({ traceId, touches }) => touches.map((touch) => ({ traceId, ...touch })));
  if (rows.length === 0) return;
  const column = <Name extends keyof (typeof rows)[number]>(name: Name) => rows.map((row) => row[name]);
  const places = traces.flatMap(({ touches }) => touches.map((_, place) => place));
  await tx.query(
    `with stored as materialized (
       select trace_id, count(*) as kept from trace_file where user_id = $1 and trace_id = any($10::uuid[]) group by trace_id)
     insert into trace_file (user_id, trace_id, position, path, name, action, added, removed)
     select $1::uuid, found.trace_id, position, path, name, action, added, removed
     from unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::int[], $8::int[], $9::int[])
       as found (trace_id, position, path, name, action, added, removed, place)
     left join stored on stored.trace_id = found.trace_id
     where place + coalesce(kept, 0) < ${maxTouches}`,
    [
      userId,
      ...[column("traceId"), column("position"), column("path"), column("path").map(nameOf)],
      ...[column("action"), column("added"), column("removed"), places, ids],
    ],
  );
}

/** What the rows of each trace come to: how many files were changed, and the lines added and removed. */
export async function sumTouches(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
): Promise<Map<string, { filesChanged: number; linesAdded: number; linesRemoved: number }>> {
  const { rows } = await tx.query(
    `select id, count(distinct path) filter (where action <> 'read')::int as "filesChanged",
       least(coalesce(sum(added), 0), 2147483647)::int as "linesAdded",
       least(coalesce(sum(removed), 0), 2147483647)::int as "linesRemoved"
     from unnest($2::uuid[]) as wanted (id)
     left join trace_file on trace_file.user_id = $1 and trace_file.trace_id = wanted.id
     group by id`,
    [userId, traceIds],
  );
  return new Map(rows.map(({ id, ...sums }) => [id, sums]));
}

/** Deletes all rows of traces. */
export async function deleteTouches(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query("delete from trace_file where user_id = $1 and trace_id = any($2::uuid[])", [userId, traceIds]);
}
