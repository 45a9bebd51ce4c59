// Messages are written by binary COPY, which Prisma does not have, from the bytes that the decoding thread makes.
import "server-only";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { messageColumns } from "#lib/ingest/decode/message-rows";

/** The chunks of a binary COPY stream. */
type CopyStream = AsyncIterable<Buffer>;

/** Inserts message rows. @returns how many */
export function copyMessages(tx: PoolClient, rows: CopyStream): Promise<number> {
  return copyInto(tx, "message", rows);
}

/**
 * Makes the stored messages of traces equal to `rows`. Only rows that differ are written: metadata is compared as jsonb, in
 * which the order of keys has no meaning.
 *
 * @returns how many rows were written.
 */
export async function replaceMessages(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  rows: CopyStream,
): Promise<number> {
  await tx.query("create temporary table incoming_message (like message) on commit drop");
  await copyInto(tx, "incoming_message", rows);
  // With no statistics on either table PostgreSQL may choose a nested loop, which needs the index.
  await tx.query("create unique index on incoming_message (trace_id, position)");
  await tx.query(
    `delete from message stored where user_id = $1 and trace_id = any($2) and not exists (
       select 1 from incoming_message incoming
       where incoming.trace_id = stored.trace_id and incoming.position = stored.position
         and incoming.content = stored.content
         and incoming.role is not distinct from stored.role
         and incoming.token_count is not distinct from stored.token_count
         and incoming.created_at is not distinct from stored.created_at
         and incoming.metadata is not distinct from stored.metadata)`,
    [userId, traceIds],
  );
  const { rowCount } = await tx.query(
    `insert into message (${messageColumns}) select ${messageColumns} from incoming_message incoming
     where not exists (
       select 1 from message stored where stored.user_id = $1 and stored.trace_id = incoming.trace_id
         and stored.position = incoming.position)`,
    [userId],
  );
  return rowCount ?? 0;
}

async function copyInto(tx: PoolClient, table: "message" | "incoming_message", rows: CopyStream): Promise<number> {
  const stream = tx.query(copyFrom(`copy ${table} (${messageColumns}) from stdin (format binary)`));
  await pipeline(rows, stream); // a Readable in between would read up to 16 chunks ahead
  return stream.rowCount;
}
