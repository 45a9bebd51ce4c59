// SQL: locks, COPY's transaction, and the tables of pg-boss and PostgreSQL.
import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { pool, type Queryable } from "#lib/db/client";
import type { JobId } from "#lib/ingest/process/attempts";
import type { MergeResult } from "#lib/ingest/process/merge";
import { hasEntrySql } from "#lib/queue/sql";

const isOpen = "status in ('queued', 'running')";

/** `isRepeat` means that the same body came before. */
export type Attempt = { attempts: number; bytes: number; machine: string; isRepeat: boolean };

const lockedAgainMs = 50;
const lockNotAvailable = "55P03";

/**
 * @returns undefined if the job has ended
 * @throws lock_not_available if another worker locks the row for longer than `lockSeconds`
 */
export async function claimJob(job: JobId, lockSeconds: number): Promise<Attempt | undefined> {
  const deadline = performance.now() + lockSeconds * 1000;
  for (;;) {
    try {
      return await claimUnlocked(job);
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable || performance.now() > deadline) throw error;
      await sleep(lockedAgainMs);
    }
  }
}

/**
 * One round trip, where Prisma's transaction takes five. It does not wait for the lock, since this session's timeout
 * has no effect on another node. A lost claim does no harm, so the commit does not wait for the disk.
 */
async function claimUnlocked({ userId, jobId }: JobId): Promise<Attempt | undefined> {
  const { rows } = await pool().query<Attempt>(
    `update ingest_job job set status = 'running', attempts = attempts + 1, started_at = least(started_at, now())
     where user_id = $1 and ${isOpen} and (select set_config('synchronous_commit', 'off', true)) is not null
       and id = (select id from ingest_job where user_id = $1 and id = $2 and ${isOpen} for update nowait)
     returning attempts, bytes, machine, exists (select 1 from ingest_job earlier where earlier.user_id = $1
       and earlier.body_sha256 = job.body_sha256 and earlier.sequence < job.sequence) as "isRepeat"`,
    [userId, jobId],
  );
  return rows[0];
}

/** A row's `xmax` would name a transaction of another node. */
export const nameConnection = ({ jobId }: JobId) => `spoor job ${jobId}` as const;

/**
 * No timeout of PostgreSQL's ends a connection that was stopped during COPY.
 * @returns whether there was one
 */
export async function terminateSilentWorker(job: JobId, silentSeconds: number): Promise<boolean> {
  const { rowCount } = await pool().query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
       and application_name = $1 and wait_event = 'ClientRead' and state_change < now() - make_interval(secs => $2)`,
    [nameConnection(job), silentSeconds],
  );
  return rowCount !== 0;
}

/** `now` is the database's time. */
export type LockedJob = { sequence: string; now: Date };

export async function lockJob(tx: Queryable, { userId, jobId }: JobId): Promise<LockedJob | undefined> {
  const { rows } = await tx.query<LockedJob>(
    `select sequence, clock_timestamp() as now from ingest_job
     where user_id = $1 and id = $2 and ${isOpen} for update`,
    [userId, jobId],
  );
  return rows[0];
}

/** @param at is the database's time: a distributed database has no clock in an UPDATE */
export async function markSucceeded(
  tx: Queryable,
  { userId, jobId }: JobId,
  result: MergeResult,
  at: Date,
): Promise<void> {
  const { created, updated, unchanged, kept, keptTraces, incomplete, written, writtenTraceIds } = result;
  await tx.query(
    `update ingest_job set status = 'succeeded', finished_at = $11, error_code = null, error_message = null,
       traces_created = $3, traces_updated = $4, traces_unchanged = $5, messages_written = $6, written_trace_ids = $7,
       traces_kept_deleted = $8, traces_kept_newer = $9, traces_kept_shorter = $10,
       traces_kept = $8::int + $9::int + $10::int, traces_incomplete = $12, incomplete = $13, kept = $14
     where user_id = $1 and id = $2`,
    [
      userId,
      jobId,
      created,
      updated,
      unchanged,
      written,
      writtenTraceIds,
      kept.deleted,
      kept.newer,
      kept.shorter,
      at,
      incomplete.length,
      incomplete.length > 0 ? JSON.stringify(incomplete) : null,
      keptTraces.length > 0 ? JSON.stringify(keptTraces) : null,
    ],
  );
}

/** Ends an upload before its time. */
export async function endUpload(tx: Queryable, { userId, jobId }: JobId): Promise<void> {
  await tx.query("update upload set removed_at = now(), manifest = null where user_id = $1 and job_id = $2", [
    userId,
    jobId,
  ]);
}

export async function readOpenJobs(after: JobId | undefined, max: number): Promise<JobId[]> {
  const { rows } = await pool().query<JobId>(
    `select user_id as "userId", id as "jobId" from ingest_job
     where status <> 'succeeded' and ${isOpen} and (user_id, id) > ($1::uuid, $2::uuid) order by user_id, id limit $3`,
    [after?.userId ?? noId, after?.jobId ?? noId, max],
  );
  return rows;
}

const noId = "00000000-0000-0000-0000-000000000000";

/** A job that another process has locked is not lost. */
export async function lockOpenJobs(tx: Queryable, userId: string, jobs: JobId[]): Promise<JobId[]> {
  const { rows } = await tx.query<JobId>(
    `select user_id as "userId", id as "jobId" from ingest_job
     where user_id = $1 and id = any($2) and ${isOpen} order by sequence for update skip locked`,
    [userId, jobs.map(({ jobId }) => jobId)],
  );
  return rows;
}

export async function withoutEntry(tx: Queryable, jobs: JobId[]): Promise<JobId[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from unnest($1::uuid[]) as given (id) where not ${hasEntrySql("given.id")}`,
    [jobs.map(({ jobId }) => jobId)],
  );
  const lost = new Set(rows.map(({ id }) => id));
  return jobs.filter(({ jobId }) => lost.has(jobId));
}
