// Statements on jobs that Prisma cannot make: a settled lock timeout within one round trip, the lock and the outcome in the
// transaction of the merge's COPY, and conditions on pg-boss's tables and PostgreSQL's own.
import "server-only";
import { pool, type Queryable } from "#lib/db/client";
import type { JobId } from "#lib/ingest/process/attempts";
import type { MergeResult } from "#lib/ingest/process/merge";
import { hasEntrySql } from "#lib/queue/sql";

const isOpen = "status in ('queued', 'running')";

/** An attempt at a job: its number, the upload's decoded size and sender, and whether the same body came before. */
export type Attempt = { attempts: number; bytes: number; machine: string; isRepeat: boolean };

/**
 * Marks a job as running and counts the attempt, in one round trip (a transaction of Prisma's takes five). Nothing is
 * promised by a claim, so its commit does not wait for the disk.
 *
 * @returns undefined if the job has ended.
 * @throws lock_not_available where another worker holds the row for longer than `lockSeconds`.
 */
export async function claimJob({ userId, jobId }: JobId, lockSeconds: number): Promise<Attempt | undefined> {
  const { rows } = await pool().query<Attempt>(
    `with settings as materialized (
       select set_config('lock_timeout', $3, true), set_config('synchronous_commit', 'off', true)
     )
     update ingest_job job set status = 'running', attempts = attempts + 1, started_at = coalesce(started_at, now())
     from settings
     where user_id = $1 and id = $2 and ${isOpen}
     returning attempts, bytes, machine, exists (select 1 from ingest_job earlier where earlier.user_id = job.user_id
       and earlier.body_sha256 = job.body_sha256 and earlier.sequence < job.sequence) as "isRepeat"`,
    [userId, jobId, `${lockSeconds * 1000}ms`],
  );
  return rows[0];
}

/**
 * Ends the connection of a worker that holds a job's row and has been silent: no timeout of PostgreSQL's ends one that was
 * stopped in the middle of a COPY.
 *
 * @returns whether there was one.
 */
export async function terminateSilentWorker({ userId, jobId }: JobId, silentSeconds: number): Promise<boolean> {
  const { rowCount } = await pool().query(
    `select pg_terminate_backend(pid) from ingest_job job join pg_stat_activity on backend_xid = job.xmax
     where user_id = $1 and id = $2 and wait_event = 'ClientRead'
       and state_change < now() - make_interval(secs => $3)`,
    [userId, jobId, silentSeconds],
  );
  return rowCount !== 0;
}

/** Locks a job's row until the transaction ends. @returns its sequence, or undefined if another attempt ended it */
export async function lockJob(tx: Queryable, { userId, jobId }: JobId): Promise<string | undefined> {
  const { rows } = await tx.query<{ sequence: string }>(
    `select sequence from ingest_job where user_id = $1 and id = $2 and ${isOpen} for update`,
    [userId, jobId],
  );
  return rows[0]?.sequence;
}

/** Ends a job with what it did. */
export async function markSucceeded(tx: Queryable, { userId, jobId }: JobId, result: MergeResult): Promise<void> {
  const { created, updated, unchanged, kept, written, writtenTraceIds } = result;
  await tx.query(
    `update ingest_job set status = 'succeeded', finished_at = clock_timestamp(), error_code = null, error_message = null,
       traces_created = $3, traces_updated = $4, traces_unchanged = $5, messages_written = $6, written_trace_ids = $7,
       traces_kept_deleted = $8, traces_kept_newer = $9, traces_kept_shorter = $10,
       traces_kept = $8::int + $9::int + $10::int
     where user_id = $1 and id = $2`,
    [userId, jobId, created, updated, unchanged, written, writtenTraceIds, kept.deleted, kept.newer, kept.shorter],
  );
}

/** Open jobs without a queue entry, oldest first. */
export async function findLostJobs(max: number): Promise<JobId[]> {
  const { rows } = await pool().query<JobId>(
    `select user_id as "userId", id as "jobId" from ingest_job
     where status <> 'succeeded' and ${isOpen} and not ${hasEntrySql("ingest_job.id")} order by sequence limit $1`,
    [max],
  );
  return rows;
}

/** Locks those of the jobs that are still open. One that another process holds at this moment is not lost. */
export async function lockOpenJobs(tx: Queryable, jobs: JobId[]): Promise<JobId[]> {
  const { rows } = await tx.query<JobId>(
    `select user_id as "userId", id as "jobId" from ingest_job
     join unnest($1::uuid[], $2::uuid[]) as suspect (user_id, id) using (user_id, id)
     where ${isOpen} order by sequence for update of ingest_job skip locked`,
    [jobs.map(({ userId }) => userId), jobs.map(({ jobId }) => jobId)],
  );
  return rows;
}

/** Those of the jobs that have no queue entry, in a statement that sees what others committed before the rows were locked. */
export async function withoutEntry(tx: Queryable, jobs: JobId[]): Promise<JobId[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from unnest($1::uuid[]) as locked (id) where not ${hasEntrySql("locked.id")}`,
    [jobs.map(({ jobId }) => jobId)],
  );
  const lost = new Set(rows.map(({ id }) => id));
  return jobs.filter(({ jobId }) => lost.has(jobId));
}
