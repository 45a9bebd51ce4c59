import "server-only";
import type { PoolClient } from "pg";

/** Of transactions that write the index. A stopped process must not keep the lock. */
export const settings = { idle_in_transaction_session_timeout: "30s", synchronous_commit: "off" };

/** Takes the lock that keeps the indexers of several processes apart, until the transaction ends. @returns whether it was free */
export async function lockIndex(tx: PoolClient): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>(
    "select pg_try_advisory_xact_lock(hashtextextended('spoor.search', 0)) as locked",
  );
  return rows[0]?.locked ?? false;
}
