import "server-only";
import { type Db, type Queryable, type Settings, transaction } from "#lib/db/client";
import type { User } from "#lib/generated/prisma/client";

/** One set-up creates one owner. SQL: Prisma has no table locks. */
export async function lockUsers(tx: Db): Promise<void> {
  await tx.$executeRaw`lock table "user" in share row exclusive mode`;
}

/** Requests with the same form wait for each other. SQL: Prisma has no advisory locks. */
export async function lockForm(tx: Db, userId: string, formId: string): Promise<void> {
  await tx.$executeRaw`select pg_advisory_xact_lock(hashtextextended(${`${userId} ${formId}`}, 0))`;
}

/** A deletion waits for uploads that are being accepted. SQL: Prisma has no row locks. */
export async function lockUser(
  tx: Db,
  userId: string,
): Promise<Pick<User, "email" | "role" | "deletedAt"> | undefined> {
  const [user] = await tx.$queryRaw<Pick<User, "email" | "role" | "deletedAt">[]>`
    select email, role, deleted_at as "deletedAt" from "user" where id = ${userId}::uuid for update`;
  return user;
}

/**
 * Replaces foreign keys, which a distributed database lacks here. SQL: row locks.
 * @param wait for users that are being deleted, instead of leaving them out
 * @returns the ids of users whose deletion has not begun
 */
export async function holdUsers(tx: Queryable, userIds: string[], wait: boolean): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from "user" where id = any($1) and deleted_at is null order by id for key share ${wait ? "" : "skip locked"}`,
    [userIds],
  );
  return new Set(rows.map(({ id }) => id));
}

/** A tenth of a second's work, or one long session. */
const batch = { jobs: 50, rows: 5000, bodies: 100 };
/** Tables without uploads and jobs, with the column whose values form a batch. */
const inBatches = [
  ["message", "trace_id"],
  ["trace_picture", "trace_id"],
  ["picture", "sha256"],
  ["original_use", "source_id"],
  ["original", "source_id"],
  ["original_part", "sha256"],
  ["original_key", "user_id"],
  ["search_document", "trace_id"],
  ["search_bucket", "block_id"],
  ["search_block", "id"],
  ["trace_usage", "trace_id"],
  ["usage_facets", "facets"],
  ["message_usage", "trace_id"],
  ["usage_day", "day"],
  ["usage_quarter_hour", "quarter"],
  ["budget", "facet"],
  ["trace_branch", "trace_id"],
  ["trace_commit", "trace_id"],
  ["trace_pull_request", "trace_id"],
  ["trace_file", "trace_id"],
  ["finding", "trace_id"],
  ["masking_task", "trace_id"],
  ["secret_policy", "user_id"],
  ["secret_ruling", "mark"],
  ["trace_digest", "trace_id"],
  ["saved_view", "name"],
  ["project_alias", "value"],
  ["project", "id"],
  ["trace", "id"],
] as const;
const withBodies: ReadonlySet<string> = new Set(["picture", "original", "original_part"]);

/**
 * Concurrent calls take turns. SQL: row locks, and deletions bounded by rows of columns that can't be bound.
 * @returns whether there may be more
 */
export function deleteSome(userId: string, settings?: Settings): Promise<boolean> {
  return transaction(async (tx) => {
    await tx.query("select 1 from (select pg_advisory_xact_lock(hashtextextended($1, 0))) as waited", [userId]);
    // Waits for a running job; others no longer begin, and nothing else adds rows of traces.
    const { rows: jobs } = await tx.query<{ id: string }>(
      "select id from ingest_job where user_id = $1 order by id limit $2 for update",
      [userId, batch.jobs],
    );
    if (jobs.length > 0) {
      const own = [userId, jobs.map(({ id }) => id)];
      await tx.query("delete from upload where user_id = $1 and (job_id = any($2) or held_by = any($2))", own);
      await tx.query("delete from ingest_job where user_id = $1 and id = any($2)", own);
      return true;
    }
    for (const [table, column] of inBatches) {
      const { rowCount } = await tx.query(
        `delete from ${table} where user_id = $1 and ${column} in (
           select ${column} from ${table} where user_id = $1 order by ${column} limit $2)`,
        [userId, withBodies.has(table) ? batch.bodies : batch.rows],
      );
      if (rowCount) return true;
    }
    return false;
  }, settings);
}

/**
 * Deletes queue entries, rate-limit counters and better-auth's values, which have no foreign key.
 * @param address also ends the keys of counters
 * SQL: the queue's tables are not Prisma's, and its `contains` is a LIKE, in which `_` matches any character.
 */
export async function deleteMentions(
  tx: Db,
  userId: string,
  address?: { email: string; accountKey: string },
): Promise<void> {
  await tx.$executeRaw`delete from pgboss.job where data->>'userId' = ${userId}`;
  await tx.$executeRaw`delete from rate_limit where strpos(key, ${userId}) > 0`;
  await tx.$executeRaw`delete from verification where strpos(identifier || ' ' || value, ${userId}) > 0`;
  if (!address) return;
  const { email, accountKey } = address;
  await tx.$executeRaw`delete from rate_limit where right(key, length(${accountKey})) = ${accountKey}`;
  await tx.$executeRaw`delete from verification where strpos(identifier || ' ' || value, ${email}) > 0`;
}
