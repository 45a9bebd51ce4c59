// SQL: one statement for many traces.
import "server-only";
import type { PoolClient } from "pg";
import { getFileName } from "#lib/transcript/files/paths";
import { maxTouches, type Touch } from "#lib/transcript/files/touches";

/** `key` is equal for the same edit in another session. */
export type KeyedTouch = Touch & { key: string | undefined };

type Touched = { traceId: string; from: number; touches: KeyedTouch[] };
type TouchKey = { key: string | null };

const listKeys = (rows: TouchKey[]) => rows.flatMap(({ key }) => key ?? []);

/**
 * Keeps 50,000 rows a trace. A copy without a key does not count, because its original cannot be found.
 * @returns keys of added and removed rows
 */
export async function replaceTouches(tx: PoolClient, userId: string, traces: Touched[]): Promise<string[]> {
  const [ids, from] = [traces.map(({ traceId }) => traceId), traces.map((trace) => trace.from)];
  const { rows: gone } = await tx.query<TouchKey>(
    `delete from trace_file using unnest($2::uuid[], $3::int[]) as seen (id, first)
     where user_id = $1 and trace_id = seen.id and position >= seen.first returning touch_key::text as key`,
    [userId, ids, from],
  );
  const rows = traces.flatMap(({ traceId, touches }) => touches.map((touch) => ({ traceId, ...touch })));
  if (rows.length === 0) return listKeys(gone);
  const column = <Name extends keyof (typeof rows)[number]>(name: Name) => rows.map((row) => row[name]);
  const places = traces.flatMap(({ touches }) => touches.map((_, place) => place));
  const { rows: come } = await tx.query<TouchKey>(
    `with stored as materialized (
       select trace_id, count(*) as kept from trace_file where user_id = $1 and trace_id = any($12::uuid[]) group by trace_id)
     insert into trace_file (user_id, trace_id, position, path, name, action, added, removed, replayed, touch_key, counted)
     select $1::uuid, found.trace_id, position, path, name, action, added, removed, replayed, hashtextextended(key, 0),
       key is not null or not replayed
     from unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::int[], $8::int[], $9::bool[], $10::text[], $11::int[])
       as found (trace_id, position, path, name, action, added, removed, replayed, key, place)
     left join stored on stored.trace_id = found.trace_id
     where place + coalesce(kept, 0) < ${maxTouches}
     returning touch_key::text as key`,
    [
      userId,
      ...[column("traceId"), column("position"), column("path"), column("path").map(getFileName), column("action")],
      ...[column("added"), column("removed"), column("isCopy"), column("key"), places, ids],
    ],
  );
  return listKeys([...gone, ...come]);
}

const mostAlike = 10_000;

/**
 * Rows of the same key count in the trace that did not copy them and began first.
 * @returns the traces whose rows changed
 */
export async function settleTouches(tx: PoolClient, userId: string, keys: string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const { rows } = await tx.query<{ traceId: string; position: number; path: string }>(
    `select trace_id as "traceId", position, path from (
       select same.*, same.trace_id = first_value(same.trace_id) over (
         partition by given.key order by same.replayed, trace.created_at, trace.id) as wins
       from (select $1::uuid as owner, key from unnest($2::bigint[]) as keys (key) offset 0) as given
       cross join lateral (
         select trace_id, position, path, counted, replayed from trace_file
         where trace_file.user_id = given.owner and touch_key = given.key limit ${mostAlike}) as same
       cross join lateral (
         select id, created_at from trace
         where trace.user_id = $1::uuid and trace.id = same.trace_id and deleted_at is null limit 1) as trace
     ) as ranked where counted <> wins`,
    [userId, [...new Set(keys)]],
  );
  if (rows.length === 0) return [];
  const ids = rows.map(({ traceId }) => traceId);
  await tx.query(
    `update trace_file set counted = not counted from unnest($2::uuid[], $3::int[], $4::text[]) as turned (id, place, file)
     where user_id = $1 and trace_id = turned.id and position = turned.place and path = turned.file`,
    [userId, ids, rows.map(({ position }) => position), rows.map(({ path }) => path)],
  );
  return [...new Set(ids)];
}

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
     left join trace_file on trace_file.user_id = $1 and trace_file.trace_id = wanted.id and counted
     group by id`,
    [userId, traceIds],
  );
  return new Map(rows.map(({ id, ...sums }) => [id, sums]));
}

export async function deleteTouches(tx: PoolClient, userId: string, traceIds: string[]): Promise<string[]> {
  const { rows } = await tx.query<TouchKey>(
    "delete from trace_file where user_id = $1 and trace_id = any($2::uuid[]) returning touch_key::text as key",
    [userId, traceIds],
  );
  return listKeys(rows);
}
