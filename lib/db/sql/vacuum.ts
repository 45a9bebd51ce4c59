// Autovacuum runs once a minute; until then, rewrites of a session can take many times its space. SQL: VACUUM.
import "server-only";
import { log } from "#lib/core/log";
import { pool } from "#lib/db/client";

type Rewritten = "message" | "search_bucket";

const due = { share: 0.25, bytes: 1 << 18 };
/** A quarter of a larger table is not rewritten in a minute. */
const maxTableBytes = 2 ** 31;

/** Bytes that this process deleted since the last vacuum. */
const dead = new Map<Rewritten, number>();

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

/** A limited pool may wrap a statement in a transaction, where VACUUM is refused. */
async function vacuum(table: Rewritten): Promise<void> {
  const client = await pool().connect();
  try {
    await client.query(`vacuum (skip_locked) ${table}`);
  } finally {
    client.release();
  }
}
