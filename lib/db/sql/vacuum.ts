// Space of deleted rows. PostgreSQL's own vacuum comes once a minute: 20 rewrites of a session's messages in that time took
// twenty times its space, which stays taken. SQL: VACUUM.
import "server-only";
import { pool } from "#lib/db/client";
import { log } from "#lib/log";

/** Tables whose rows are large and are rewritten as a whole. */
type Rewritten = "message" | "search_bucket";

/** A table is vacuumed when so much of it is dead, and at least so many bytes. */
const due = { share: 0.25, bytes: 1 << 18 };
/** A larger table is left to autovacuum: of it, a quarter is not rewritten in a minute. */
const maxTableBytes = 2 ** 31;

/** How much this process has deleted from each table since it was vacuumed, in bytes. */
const dead = new Map<Rewritten, number>();

/**
 * Counts what the caller has just deleted from a table, and makes its space free to be used again once it is a considerable
 * part of the table. What fails is logged: autovacuum does the same, later.
 *
 * @param bytes what the deleted rows took, about.
 */
export async function freeSpace(table: Rewritten, bytes: number): Promise<void> {
  const sum = (dead.get(table) ?? 0) + bytes;
  dead.set(table, sum);
  if (sum < due.bytes) return;
  try {
    const { rows } = await pool().query<{ bytes: number }>("select pg_table_size($1::regclass)::float8 as bytes", [
      table,
    ]);
    const total = rows[0]?.bytes ?? 0;
    if (total > maxTableBytes || sum < due.share * total) return;
    dead.set(table, 0);
    await vacuum(table);
  } catch (error) {
    log.warn({ err: error, table }, "a table could not be vacuumed; autovacuum will");
  }
}

/** On a connection itself: a pool with limits may put a statement into a transaction, where PostgreSQL refuses this one. */
async function vacuum(table: Rewritten): Promise<void> {
  const client = await pool().connect();
  try {
    await client.query(`vacuum (skip_locked) ${table}`);
  } finally {
    client.release();
  }
}
