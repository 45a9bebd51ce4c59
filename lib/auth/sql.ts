import "server-only";
import type { Db } from "#lib/db/client";

/**
 * Keeps other transactions from adding users until this one ends, so that one set-up makes one owner.
 * SQL: Prisma has no table locks.
 */
export async function lockUsers(tx: Db): Promise<void> {
  await tx.$executeRaw`lock table "user" in share row exclusive mode`;
}

/**
 * Makes this connection plan its foreign keys' cascades again: those planned while a table was empty read all of it for every
 * row that is deleted.
 * SQL: Prisma has no `discard`.
 */
export async function discardPlans(tx: Db): Promise<void> {
  await tx.$executeRaw`discard plans`;
}

/**
 * Locks a user's jobs. A running job locks its own row and then needs its user's: deleting a user takes them in the same
 * order, so that neither deadlocks the other.
 * SQL: Prisma has no row locks.
 */
export async function lockJobs(tx: Db, userId: string): Promise<void> {
  await tx.$executeRaw`select 1 from ingest_job where user_id = ${userId}::uuid order by id for update`;
}

/**
 * Deletes what holds a user's id or address without a foreign key: queue entries, rate-limit counters, better-auth's values.
 *
 * @param accountKey what the keys of the counters of the user's address end with.
 * SQL: the queue's tables are not Prisma's, and Prisma's `contains` is a LIKE, in which an address's `_` matches any
 * character.
 */
export async function deleteMentions(tx: Db, userId: string, email: string, accountKey: string): Promise<void> {
  await tx.$executeRaw`delete from pgboss.job where data->>'userId' = ${userId}`;
  await tx.$executeRaw`
    delete from rate_limit where strpos(key, ${userId}) > 0 or right(key, length(${accountKey})) = ${accountKey}`;
  await tx.$executeRaw`
    delete from verification
    where strpos(identifier || ' ' || value, ${userId}) > 0 or strpos(identifier || ' ' || value, ${email}) > 0`;
}
