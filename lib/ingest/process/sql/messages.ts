// SQL: binary COPY of bytes from the decoding thread, and hashes in the database, so that only rows to be written are read.
import "server-only";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { messageColumns } from "#lib/ingest/decode/message-rows";
import type { StoredHashes } from "#lib/ingest/decode/row-hashes";

export async function copyMessages(tx: PoolClient, rows: AsyncIterable<Buffer>): Promise<number> {
  const stream = tx.query(copyFrom(`copy message (${messageColumns}) from stdin (format binary)`));
  await pipeline(rows, stream); // a Readable in between would read ahead up to 16 chunks
  return stream.rowCount;
}

/** `hashRow` makes the same hash of a COPY row. */
const rowHash = `encode(sha256(
  int4send(octet_length(content)) || textsend(content) || int4send(4) || int4send(position)
  || coalesce(int4send(octet_length(role)) || textsend(role), int4send(-1))
  || coalesce(int4send(4) || int4send(token_count), int4send(-1))
  || coalesce(int4send(8) || timestamptz_send(created_at), int4send(-1))
  || coalesce(textsend(metadata::text), '')), 'base64')`;

export async function hashStored(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
): Promise<Map<string, StoredHashes>> {
  const { rows } = await tx.query<StoredHashes & { traceId: string }>(
    `select trace_id as "traceId", array_agg(position) as positions,
       array_agg(${rowHash}) as hashes
     from message where user_id = $1 and trace_id = any($2) group by trace_id`,
    [userId, traceIds],
  );
  return new Map(rows.map(({ traceId, ...stored }) => [traceId, stored]));
}

/** From a position on. */
export async function hashStoredFrom(
  tx: PoolClient,
  userId: string,
  from: { traceId: string; position: number }[],
): Promise<Map<string, StoredHashes>> {
  if (from.length === 0) return new Map();
  const { rows } = await tx.query<StoredHashes & { traceId: string }>(
    `select given.trace_id as "traceId", stored.* from unnest($2::uuid[], $3::int[]) as given (trace_id, first)
     cross join lateral (
       select array_agg(position) as positions, array_agg(${rowHash}) as hashes from message
       where user_id = $1 and message.trace_id = given.trace_id and position >= given.first
     ) as stored where positions is not null`,
    [userId, from.map(({ traceId }) => traceId), from.map(({ position }) => position)],
  );
  return new Map(rows.map(({ traceId, ...stored }) => [traceId, stored]));
}

/**
 * Size is measured separately, because nodes of a distributed database allow no such function in RETURNING.
 * @returns bytes
 */
export async function deleteMessages(
  tx: PoolClient,
  userId: string,
  { traceIds, positions }: { traceIds: string[]; positions: number[] },
): Promise<number> {
  if (positions.length === 0) return 0;
  const { rows } = await tx.query<{ bytes: number }>(
    `with given as (select * from unnest($2::uuid[], $3::int[]) as given (trace_id, position)),
     sized as (
       select pg_column_size(content) + coalesce(pg_column_size(metadata), 0) as bytes from message join given
         on message.user_id = $1 and message.trace_id = given.trace_id and message.position = given.position
     ), gone as (
       delete from message using given
       where message.user_id = $1 and message.trace_id = given.trace_id and message.position = given.position
     )
     select coalesce(sum(bytes + 100), 0)::float8 as bytes from sized`,
    [userId, traceIds, positions],
  );
  return rows[0]?.bytes ?? 0;
}
