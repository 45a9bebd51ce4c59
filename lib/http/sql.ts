// SQL: the database's clock.
import "server-only";
import { pool } from "#lib/db/client";

/**
 * Deletes counters whose window is over by both clocks: a process whose clock is ahead must not end the limits of others.
 *
 * @param now the process's time in milliseconds
 */
export async function deleteEndedLimits(now: number): Promise<void> {
  await pool().query("delete from rate_limit where expire < least($1, extract(epoch from now()) * 1000)::bigint", [
    now,
  ]);
}
