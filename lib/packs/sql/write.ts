// Packing and unpacking. SQL: rows go out and in by COPY, in the transaction of it; rows are locked without waiting.
import "server-only";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { parse as parseUuid } from "uuid";
import type { Queryable } from "#lib/db/client";
import type { MessagePack } from "#lib/generated/prisma/client";
import { packedColumns } from "#lib/packs/format";

/**
 * What the messages of a trace must be to be packed: stored before `$2`, and not waiting for the ledger, the index or masking, each
 * of which would read them soon. One whose size is not known, of an earlier version, is left: its quota is counted by its rows.
 */
const isQuiet = `trace.packed_at is null and trace.deleted_at is null and trace.stored_at < $2::timestamptz
  and not trace.ledger_due and not trace.search_pending
  and (trace.stored_bytes is not null or trace.messages_bytes is not null)
  and not exists (select from masking_task where masking_task.user_id = trace.user_id and masking_task.trace_id = trace.id)`;

/** The next user, in the order of their ids, who has a quiet trace. */
export async function findUserToPack(db: Queryable, after: string, before: Date): Promise<string | undefined> {
  const { rows } = await db.query<{ userId: string }>(
    `select user_id as "userId" from trace where user_id > $1 and ${isQuiet} order by user_id limit 1`,
    [after, before],
  );
  return rows[0]?.userId;
}

/** Some quiet traces of a user, the longest quiet first. @param except those that are left out */
export async function findQuiet(
  db: Queryable,
  userId: string,
  before: Date,
  { limit, except }: { limit: number; except: string[] },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from trace where user_id = $1 and ${isQuiet} and id <> all($4::uuid[]) order by stored_at limit $3`,
    [userId, before, limit, except],
  );
  return rows.map(({ id }) => id);
}

/** Locks a trace that is still quiet. @returns how many messages it has; undefined for one that is not, or that others hold */
export async function lockQuiet(
  tx: PoolClient,
  userId: string,
  traceId: string,
  before: Date,
): Promise<{ messageCount: number } | undefined> {
  const { rows } = await tx.query<{ messageCount: number }>(
    `select message_count as "messageCount" from trace
     where user_id = $1 and ${isQuiet} and id = $3 for update of trace skip locked`,
    [userId, before, traceId],
  );
  return rows[0];
}

/** A message's position and its size in a pack, about. */
export type Sized = { position: number; bytes: number };

/** The sizes of a trace's messages, in their order. */
export async function readSizes(tx: PoolClient, userId: string, traceId: string): Promise<Sized[]> {
  const { rows } = await tx.query<Sized>(
    `select position, (octet_length(content)::bigint + coalesce(octet_length(metadata::text), 0) + coalesce(octet_length(role), 0)
       + 100)::float8 as bytes
     from message where user_id = $1 and trace_id = $2 order by position`,
    [userId, traceId],
  );
  return rows;
}

/** The COPY stream of a trace's messages from one position to another. COPY takes no parameters. @throws TypeError for an id that is no UUID */
export async function copyRows(
  tx: PoolClient,
  userId: string,
  traceId: string,
  [first, last]: [number, number],
): Promise<Buffer> {
  for (const id of [userId, traceId]) parseUuid(id);
  const rows = `select ${packedColumns} from message where user_id = '${userId}' and trace_id = '${traceId}'
    and position between ${Number(first)} and ${Number(last)} order by position`;
  return buffer(tx.query(copyTo(`copy (${rows}) to stdout (format binary)`)));
}

/** Inserts a pack. In the transaction of COPY, which is not Prisma's. */
export async function insertPack(tx: PoolClient, pack: MessagePack): Promise<void> {
  const { userId, traceId, firstPosition, lastPosition, messages, bytes, body } = pack;
  await tx.query(
    `insert into message_pack (user_id, trace_id, first_position, last_position, messages, bytes, body)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [userId, traceId, firstPosition, lastPosition, messages, bytes, body],
  );
}

/** Deletes the rows of a trace's messages. @returns how many */
export async function deleteRows(tx: PoolClient, userId: string, traceId: string): Promise<number> {
  const { rowCount } = await tx.query("delete from message where user_id = $1 and trace_id = $2", [userId, traceId]);
  return rowCount ?? 0;
}

/** Records when a trace was looked at by the packer: not before it was stored, whatever the clocks say. */
export async function markPacked(tx: PoolClient, userId: string, traceId: string): Promise<void> {
  await tx.query("update trace set packed_at = greatest(now(), stored_at) where user_id = $1 and id = $2", [
    userId,
    traceId,
  ]);
}

/** Clears the marks of traces, which the transaction holds. @returns the ids of those that had one */
export async function clearPacked(tx: PoolClient, userId: string, traceIds: string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    "update trace set packed_at = null where user_id = $1 and id = any($2) and packed_at is not null returning id",
    [userId, traceIds],
  );
  return rows.map(({ id }) => id);
}

/** Inserts the rows of a COPY stream. @returns how many */
export async function insertRows(tx: PoolClient, rows: Buffer): Promise<number> {
  const stream = tx.query(copyFrom(`copy message (${packedColumns}) from stdin (format binary)`));
  await pipeline([rows], stream);
  return stream.rowCount;
}

/** Deletes the packs of traces. In the transaction of COPY, which is not Prisma's. */
export async function deletePacks(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query("delete from message_pack where user_id = $1 and trace_id = any($2)", [userId, traceIds]);
}
