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
 * What a worker that stops in the middle (SIGSTOP, a lost host) is given, in seconds: how long PostgreSQL lets its transaction
 * be idle, how long another worker waits for its rows at each try, and how long it may have said nothing when that one ends
 * it. The last is the queue's own measure of silence.
 */
const usualPatience = { idleSeconds: 30, lockSeconds: 5, silentSeconds: 10 };

/**
 * Processes an upload: its rows and the job's `succeeded` commit together, so running it twice changes nothing.
 * A fault of the batch itself ends the job as `failed`; any other error puts it back to `queued` and is thrown,
 * for the queue to try again.
 */
export async function runJob({ userId, jobId }: Payload, patience = usualPatience): Promise<void> {
  const claimed = await claim(userId, jobId, patience);
  if (!claimed) return;
  const startedAt = performance.now();
  try {
    await withStoredBatch({ userId, jobId, ...claimed }, (batch) =>
      transaction(async (tx) => {
        const sequence = await lock(tx, userId, jobId);
        if (sequence === undefined) return;
        const counts = await mergeBatch(tx, batch, { userId, sequence });
        await tx.query(
          `update ingest_job set status = 'succeeded', finished_at = now(), error_code = null, error_message = null,
             traces_created = $3, traces_updated = $4, traces_unchanged = $5, traces_kept = $6, messages_written = $7
           where user_id = $1 and id = $2`,
          [userId, jobId, counts.created, counts.updated, counts.unchanged, counts.kept, counts.written],
        );
      }, whileProcessing(patience)),
    );
    log.info({ jobId, milliseconds: Math.round(performance.now() - startedAt) }, "an upload was processed");
  } catch (error) {
    if (error instanceof SpoorError) return failJob({ userId, jobId }, error.code, messageOf(error));
    const { code, stack } = error as { code?: unknown; stack?: string };
    log.warn({ jobId, code, stack }, "an upload could not be processed this time");
    if ((await putBack({ userId, jobId }, isOutage(error))) === "ended") return;
    throw error;
  }
}

const whileProcessing = ({ idleSeconds }: typeof usualPatience) => ({
  idle_in_transaction_session_timeout: `${idleSeconds * 1000}ms`,
});

/**
 * A job's last worker may be stopped, not gone: another try comes when this one finds the row locked. Nothing is promised
 * by a claim, so it need not wait for the disk: one that a crash takes back is made again.
 */
const whileClaiming = ({ lockSeconds }: typeof usualPatience) => ({
  lock_timeout: `${lockSeconds * 1000}ms`,
  synchronous_commit: "off",
});

/** How many of a batch's faults a failed job names. */
const mostPaths = 3;

/** What is wrong with a batch, with the paths where it is. */
function messageOf({ message, errors = [] }: SpoorError): string {
  if (errors.length === 0) return message;
  const named = errors.slice(0, mostPaths).map((fault) => `${fault.path} ${fault.message}`);
  const more = errors.length > mostPaths ? `; and ${errors.length - mostPaths} more` : "";
  return `The batch is not valid: ${named.join("; ")}${more}.`;
}

/** How often a job is tried before it is given up on. */
const mostTries = 5;

/**
 * Marks a job as running and counts the try.
 *
 * @returns its size and whether the same body came before; undefined where the job has ended already, or is out of tries.
 */
async function claim(
  userId: string,
  jobId: string,
  patience: typeof usualPatience,
): Promise<{ bytes: number; isRepeat: boolean } | undefined> {
  const job = await transaction(async (tx) => {
    const { rows } = await tx.query<{ attempts: number; bytes: number; isRepeat: boolean }>(
      `update ingest_job job set status = 'running', attempts = attempts + 1, started_at = coalesce(started_at, now())
       where user_id = $1 and id = $2 and status in ('queued', 'running')
       returning attempts, bytes, exists (select 1 from ingest_job earlier where earlier.user_id = job.user_id
         and earlier.body_sha256 = job.body_sha256 and earlier.sequence < job.sequence) as "isRepeat"`,
      [userId, jobId],
    );
    return rows[0];
  }, whileClaiming(patience)).catch(async (error) => {
    if (error.code === lockNotAvailable) await endStopped(userId, jobId, patience.silentSeconds);
    throw error;
  });
  if (!job) return undefined;
  if (job.attempts <= mostTries) return { bytes: job.bytes, isRepeat: job.isRepeat };
  await giveUp({ userId, jobId });
  return undefined;
}

const lockNotAvailable = "55P03";

/**
 * Ends the connection of a worker that holds a job's row, has lost its lease, and says nothing more: no time-out of
 * PostgreSQL's ends one that stopped in the middle of a COPY.
 */
async function endStopped(userId: string, jobId: string, silentSeconds: number): Promise<void> {
  const { rowCount } = await pool().query(
    `select pg_terminate_backend(pid) from ingest_job job join pg_stat_activity on backend_xid = job.xmax
     where user_id = $1 and id = $2 and wait_event = 'ClientRead'
       and state_change < now() - make_interval(secs => $3)`,
    [userId, jobId, silentSeconds],
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
 *
 * @returns `ended` where there is nothing left to try: the queue's entry must not outlive the job, which may be replayed.
 */
async function putBack(payload: Payload, outage: boolean): Promise<"open" | "ended"> {
  try {
    const { rows } = await pool().query<{ attempts: number }>(
      `update ingest_job set status = 'queued', attempts = greatest(0, attempts - $3)
       where user_id = $1 and id = $2 and status = 'running' returning attempts`,
      [payload.userId, payload.jobId, outage ? 1 : 0],
    );
    if ((rows[0]?.attempts ?? 0) < mostTries) return "open";
    await giveUp(payload);
    return "ended";
  } catch (error) {
    if (!isOutage(error)) throw error;
    return "open";
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
