// The order of changes of a user's projects. SQL: an advisory lock.
import "server-only";
import type { PoolClient } from "pg";

/** Apart from other locks on the same user. */
const seed = 5_620_260_017;

/**
 * Makes this transaction the only one that changes a user's projects and their aliases until it ends: two workers, and a merge by
 * hand meanwhile, come one after the other.
 */
export async function lockProjects(tx: PoolClient, userId: string): Promise<void> {
  await tx.query("select 1 from (select pg_advisory_xact_lock(hashtextextended($1, $2))) as waited", [userId, seed]);
}
