import "server-only";
import type { PoolClient } from "pg";
import { holdUsers } from "#lib/auth/sql";

/**
 * Finds a user's work and keeps the user from being deleted until the transaction ends. A user who is being deleted is passed
 * over, not waited for: the deletion may be waiting for rows that this transaction writes.
 *
 * @param find returns the next work of any user but those of `except`.
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
