// The order of what is found of a user's secrets and what is decided of them. SQL: an advisory lock.
import "server-only";
import type { Db, Queryable } from "#lib/db/client";
import { Prisma } from "#lib/generated/prisma/client";

/** Apart from other locks on the same user. */
const seed = 5_620_260_018;

/**
 * Makes this transaction the only one that writes a user's findings or decides of them until it ends: a decision that came between
 * the rulings that the ledger reads and the rows that it writes would meet the former rows, which are gone by then.
 */
export async function lockFindings(tx: Queryable | Db, userId: string): Promise<void> {
  const lock = Prisma.sql`
    select 1 as locked from (select pg_advisory_xact_lock(hashtextextended(${userId}::text, ${seed}::bigint))) as waited`;
  await ("query" in tx ? tx.query(lock) : tx.$queryRaw(lock));
}
