import type { PoolClient } from "pg";

type RowCounts = { read: number; inserted: number; changed: number };

/**
 * Counts the rows that a transaction reads, inserts, and updates or deletes while `run` runs. It subtracts earlier
 * counts, because a connection keeps those of previous transactions for up to a second.
 *
 * @param tables the tables to count; all by default
 */
export async function countRows<T>(
  tx: PoolClient,
  run: () => Promise<T>,
  tables?: string[],
): Promise<RowCounts & { result: T }> {
  const before = await readCounts(tx, tables);
  const result = await run();
  const after = await readCounts(tx, tables);
  return {
    result,
    read: after.read - before.read,
    inserted: after.inserted - before.inserted,
    changed: after.changed - before.changed,
  };
}

async function readCounts(tx: PoolClient, tables: string[] | undefined): Promise<RowCounts> {
  const { rows } = await tx.query<RowCounts>(
    `select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int as read,
       coalesce(sum(n_tup_ins), 0)::int as inserted, coalesce(sum(n_tup_upd + n_tup_del), 0)::int as changed
     from pg_stat_xact_user_tables where $1::text[] is null or schemaname = 'public' and relname = any($1)`,
    [tables ?? null],
  );
  const [counts] = rows;
  if (!counts) throw new Error("PostgreSQL counted nothing");
  return counts;
}
