import "server-only";
import type { PoolClient } from "pg";
import { holdUsers } from "#lib/auth/sql";

/**
 * Finds a user's work and keeps the user from being deleted until the transaction ends. Users being deleted are
 * skipped, because waiting for them could deadlock.
 * @param find returns the next work of users other than `except`
 */
export async function holdNext<T extends { userId: string }>(
  tx: PoolClient,
  find: (except: string[]) => Promise<T | undefined>,
): Promise<T | undefined> {
  const leaving: string[] = [];
  for (;;) {
    const found = await find(leaving);
    if (!found || (await holdUsers(tx, [found.userId], false)).has(found.userId)) return found;
    leaving.push(found.userId);
  }
}
