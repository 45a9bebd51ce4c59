import "server-only";
import type { z } from "zod";
import { pool, type Queryable, transaction } from "#lib/db/client";
import { isOutage, notFound, SpoorError } from "#lib/errors";
import { mergeBatch } from "#lib/ingest/merge";
import type { ingestPayload, jobResponse } from "#lib/ingest/schema";
import { withStoredBatch } from "#lib/ingest/stored-batch";
import { log } from "#lib/log";

export type Job = z.input<typeof jobResponse>;
type Payload = z.output<typeof ingestPayload>;

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

/** A user's jobs as `/uploads` lists them, newest first. */
export async function listJobs(
  userId: string,
  page: { before?: string | undefined; limit: number },
): Promise<(Job & { machine: string })[]> {
  const { rows } = await pool().query<JobRow>(
    `select ${columns} from ingest_job
     where user_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
    [userId, page.before ?? null, page.limit],
  );
  return rows.map((row) => ({ ...present(row), machine: row.machine }));
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

/**
 * Processes an upload: its rows and the job's `succeeded` commit together, so running it twice changes nothing.
 * A fault of the batch itself ends the job as `failed`; any other error puts it back to `queued` and is thrown,
 * for the queue to try again.
 */
export async function runJob({ userId, jobId }: Payload): Promise<void> {
  const claimed = await claim(userId, jobId);
  if (!claimed) return;
  const startedAt = performance.now();
  try {
    await withStoredBatch({ userId, jobId, ...claimed }, (batch) =>
      transaction(async (tx) => {
        // A worker that stops in the middle (SIGSTOP, a lost host) must not hold the rows for longer than this.
        await tx.query("set local idle_in_transaction_session_timeout = '30s'");
        const sequence = await lock(tx, userId, jobId);
        if (sequence === undefined) return;
        const counts = await mergeBatch(tx, batch, { userId, sequence });
        await tx.query(
          `update ingest_job set status = 'succeeded', finished_at = now(), error_code = null, error_message = null,
             traces_created = $3, traces_updated = $4, traces_unchanged = $5, traces_kept = $6, messages_written = $7
           where user_id = $1 and id = $2`,
          [userId, jobId, counts.created, counts.updated, counts.unchanged, counts.kept, counts.written],
        );
      }),
    );
    log.info({ jobId, milliseconds: Math.round(performance.now() - startedAt) }, "an upload was processed");
  } catch (error) {
    if (error instanceof SpoorError) return failJob({ userId, jobId }, error.code, error.message);
    const { code, stack } = error as { code?: unknown; stack?: string };
    log.warn({ jobId, code, stack }, "an upload could not be processed this time");
    await putBack({ userId, jobId }, isOutage(error));
    throw error;
  }
}

/** How often a job is tried before it is given up on. */
const mostTries = 5;

/**
 * Marks a job as running and counts the try.
 *
 * @returns whether the same body came before; undefined where the job has ended already, or is out of tries.
 */
async function claim(userId: string, jobId: string): Promise<{ isRepeat: boolean } | undefined> {
  const job = await transaction(async (tx) => {
    // Its last worker may be stopped, not gone: another try comes when this one finds the row locked.
    await tx.query("set local lock_timeout = '5s'");
    const { rows } = await tx.query<{ attempts: number; isRepeat: boolean }>(
      `update ingest_job job set status = 'running', attempts = attempts + 1, started_at = coalesce(started_at, now())
       where user_id = $1 and id = $2 and status in ('queued', 'running')
       returning attempts, exists (select 1 from ingest_job earlier where earlier.user_id = job.user_id
         and earlier.body_sha256 = job.body_sha256 and earlier.sequence < job.sequence) as "isRepeat"`,
      [userId, jobId],
    );
    return rows[0];
  }).catch(async (error) => {
    if (error.code === lockNotAvailable) await endStopped(userId, jobId);
    throw error;
  });
  if (!job) return undefined;
  if (job.attempts <= mostTries) return { isRepeat: job.isRepeat };
  await giveUp({ userId, jobId });
  return undefined;
}

const lockNotAvailable = "55P03";

/**
 * Ends the connection of a worker that holds a job's row and has lost its lease, where PostgreSQL waits for it to say
 * more: no time-out of PostgreSQL's ends one that stopped in the middle of a COPY.
 */
async function endStopped(userId: string, jobId: string): Promise<void> {
  const { rowCount } = await pool().query(
    `select pg_terminate_backend(activity.pid) from ingest_job job
     join pg_locks held on held.locktype = 'transactionid' and held.transactionid = job.xmax and held.granted
     join pg_stat_activity activity on activity.pid = held.pid and activity.wait_event = 'ClientRead'
     where job.user_id = $1 and job.id = $2`,
    [userId, jobId],
  );
  if (rowCount) log.warn({ jobId }, "the connection of a stopped worker was ended");
}

/** Ends a job whose tries are spent. */
export async function giveUp(payload: Payload): Promise<void> {
  await failJob(
    payload,
    "processing_failed",
    "The server could not process this upload. It is kept on the server; its log says why.",
  );
}

/** Locks a job's row until the transaction ends. @returns its sequence, or undefined where another try ended it */
async function lock(tx: Queryable, userId: string, jobId: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ sequence: string }>(
    "select sequence from ingest_job where user_id = $1 and id = $2 and status in ('queued', 'running') for update",
    [userId, jobId],
  );
  return rows[0]?.sequence;
}

/**
 * Puts a job back to `queued` between its tries, and ends it after its last. An outage of the database spends no try; where
 * it can't even be told, the next try finds the job as running and goes on.
 */
async function putBack(payload: Payload, outage: boolean): Promise<void> {
  try {
    const { rows } = await pool().query<{ attempts: number }>(
      `update ingest_job set status = 'queued', attempts = greatest(0, attempts - $3)
       where user_id = $1 and id = $2 and status = 'running' returning attempts`,
      [payload.userId, payload.jobId, outage ? 1 : 0],
    );
    if ((rows[0]?.attempts ?? 0) >= mostTries) await giveUp(payload);
  } catch (error) {
    if (!isOutage(error)) throw error;
  }
}

/** Ends a job for good. Its upload stays: it is the raw truth of what the client was promised. */
export async function failJob({ userId, jobId }: Payload, code: string, message: string): Promise<void> {
  await pool().query(
    `update ingest_job set status = 'failed', finished_at = now(), error_code = $3, error_message = $4,
       attempts = least(attempts, $5)
     where user_id = $1 and id = $2 and status in ('queued', 'running')`,
    [userId, jobId, code, message, mostTries], // the try at which a job is found to have none left is none
  );
  log.warn({ jobId, code }, "an upload failed");
}
