import "server-only";
import type { z } from "zod";
import { pool } from "#lib/db/client";
import { notFound } from "#lib/errors";
import type { jobResponse } from "#lib/ingest/schema";

export type Job = z.input<typeof jobResponse>;

type JobRow = {
  id: string;
  status: Job["status"];
  attempts: number;
  machine: string;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  bytes: number;
  tracesReceived: number;
  tracesCreated: number;
  tracesUpdated: number;
  tracesUnchanged: number;
  tracesKept: number;
  messagesReceived: number;
  messagesWritten: number;
  errorCode: string | null;
  errorMessage: string | null;
};

const columns = `id, status, attempts, machine, created_at as "createdAt", started_at as "startedAt",
  finished_at as "finishedAt", bytes, traces_received as "tracesReceived", traces_created as "tracesCreated",
  traces_updated as "tracesUpdated", traces_unchanged as "tracesUnchanged", traces_kept as "tracesKept",
  messages_received as "messagesReceived", messages_written as "messagesWritten",
  error_code as "errorCode", error_message as "errorMessage"`;

/** A job as the interface tells it. @throws SpoorError `not_found`, for another user's job as well */
export async function getJob(userId: string, jobId: string): Promise<Job> {
  const { rows } = await pool().query<JobRow>(`select ${columns} from ingest_job where user_id = $1 and id = $2`, [
    userId,
    jobId,
  ]);
  const [row] = rows;
  if (!row) throw notFound();
  return present(row);
}

/** A job as the dashboard shows it: with the machine that sent it, and whether its upload is still kept. */
export type ListedJob = Job & { machine: string; kept: boolean };

const listedColumns = `${columns}, exists (
  select 1 from upload where upload.user_id = ingest_job.user_id and upload.job_id = ingest_job.id) as kept`;

const listed = (row: JobRow & { kept: boolean }) => ({ ...present(row), machine: row.machine, kept: row.kept });

/** The jobs that have not ended, or those that failed. */
export type JobFilter = "waiting" | "failed";

// By themselves "open" statuses are few and have an index, which only a condition on all but `succeeded` may use.
const filterSql = {
  waiting: "and status <> 'succeeded' and status in ('queued', 'running')",
  failed: "and status <> 'succeeded' and status = 'failed'",
} as const;

/**
 * A user's jobs as `/uploads` lists them, newest first.
 *
 * @param page.before the id behind which the page begins.
 */
export async function listJobs(
  userId: string,
  page: { filter?: JobFilter | undefined; before?: string | undefined; limit: number },
): Promise<ListedJob[]> {
  const { rows } = await pool().query<JobRow & { kept: boolean }>(
    `select ${listedColumns} from ingest_job
     where user_id = $1 and ($2::uuid is null or id < $2) ${page.filter ? filterSql[page.filter] : ""}
     order by id desc limit $3`,
    [userId, page.before ?? null, page.limit],
  );
  return rows.map(listed);
}

/** One job as the dashboard shows it. @throws SpoorError `not_found`, for another user's job as well */
export async function getListedJob(userId: string, jobId: string): Promise<ListedJob> {
  const { rows } = await pool().query<JobRow & { kept: boolean }>(
    `select ${listedColumns} from ingest_job where user_id = $1 and id = $2`,
    [userId, jobId],
  );
  const [row] = rows;
  if (!row) throw notFound();
  return listed(row);
}

/** How many of a user's jobs wait, run and failed. */
export async function countJobs(userId: string): Promise<{ queued: number; running: number; failed: number }> {
  const { rows } = await pool().query<{ status: "queued" | "running" | "failed"; count: number }>(
    `select status, count(*)::int as count from ingest_job
     where user_id = $1 and status in ('queued', 'running', 'failed') group by status`,
    [userId],
  );
  return { queued: 0, running: 0, failed: 0, ...Object.fromEntries(rows.map(({ status, count }) => [status, count])) };
}

/** Whether any upload, of whomever, waits or is being processed. */
export async function hasOpenJobs(): Promise<boolean> {
  const { rowCount } = await pool().query(
    "select 1 from ingest_job where status <> 'succeeded' and status in ('queued', 'running') limit 1",
  );
  return rowCount === 1;
}

function present(row: JobRow): Job {
  return {
    ok: true,
    jobId: row.id,
    status: row.status,
    attempts: row.attempts,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    bytes: row.bytes,
    traces: {
      received: row.tracesReceived,
      created: row.tracesCreated,
      updated: row.tracesUpdated,
      unchanged: row.tracesUnchanged,
      kept: row.tracesKept,
    },
    messages: { received: row.messagesReceived, written: row.messagesWritten },
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? "" },
  };
}
