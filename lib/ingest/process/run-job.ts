// What a worker does with an upload: one job, one transaction.
import "server-only";
import type { z } from "zod";
import { escapeLiteral, pool, type Queryable, queryWith, transaction } from "#lib/db/client";
import { isOutage, SpoorError } from "#lib/errors";
import { mergeBatch } from "#lib/ingest/process/merge";
import { withStoredBatch } from "#lib/ingest/process/stored-batch";
import type { ingestPayload } from "#lib/ingest/schema";
import { log } from "#lib/log";
import { countRows, countTry } from "#lib/observability/metrics";
import { traced } from "#lib/observability/tracing";

type Payload = z.output<typeof ingestPayload>;

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
export function runJob(payload: Payload, patience = usualPatience): Promise<void> {
  return traced("ingest.job", { "spoor.job": payload.jobId }, () => claimAndProcess(payload, patience));
}

async function claimAndProcess({ userId, jobId }: Payload, patience: typeof usualPatience): Promise<void> {
  const claimed = await claim({ userId, jobId }, patience);
  if (!claimed) return;
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  try {
    const merged = await withStoredBatch({ userId, jobId, ...claimed }, (batch) =>
      transaction(async (tx) => {
        const sequence = await lock(tx, userId, jobId);
        if (sequence === undefined) return undefined;
        const counts = await mergeBatch(tx, batch, { userId, sequence, machine: claimed.machine });
        await tx.query(
          `update ingest_job set status = 'succeeded', finished_at = clock_timestamp(),
             error_code = null, error_message = null,
             traces_created = $3, traces_updated = $4, traces_unchanged = $5, traces_kept = $6, messages_written = $7
           where user_id = $1 and id = $2`,
          [userId, jobId, counts.created, counts.updated, counts.unchanged, counts.kept, counts.written],
        );
        return counts;
      }, whileProcessing(patience)),
    );
    if (merged) {
      countRows(merged);
      countTry("succeeded", seconds());
    }
    log.info({ jobId, milliseconds: Math.round(seconds() * 1000) }, "an upload was processed");
  } catch (error) {
    if (error instanceof SpoorError && error.code !== "unavailable") {
      countTry("failed", seconds());
      return failJob({ userId, jobId }, error.code, messageOf(error), claimed.attempts);
    }
    const { code, stack } = error as { code?: unknown; stack?: string };
    log.warn({ jobId, code, stack }, "an upload could not be processed this time");
    const after = await putBack({ userId, jobId }, claimed.attempts, isOutage(error));
    countTry(after === "ended" ? "failed" : "retried", seconds());
    if (after === "ended") return;
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
const maxPaths = 3;

/** What is wrong with a batch, with the paths where it is. */
function messageOf({ message, errors = [] }: SpoorError): string {
  if (errors.length === 0) return message;
  const named = errors.slice(0, maxPaths).map((fault) => `${fault.path} ${fault.message}`);
  const more = errors.length > maxPaths ? `; and ${errors.length - maxPaths} more` : "";
  return `The batch is not valid: ${named.join("; ")}${more}.`;
}

/** How often a job is tried before it is given up on. */
const maxAttempts = 5;

/** One try of a job: the how manieth it is, the upload's decoded size and sender, and whether the same body came before. */
type Try = { attempts: number; bytes: number; machine: string; isRepeat: boolean };

/** Marks a job as running and counts the try. @returns undefined where the job has ended already, or is out of tries */
async function claim({ userId, jobId }: Payload, patience: typeof usualPatience): Promise<Try | undefined> {
  const { rows } = await queryWith<Try>(
    whileClaiming(patience),
    `update ingest_job job set status = 'running', attempts = attempts + 1, started_at = coalesce(started_at, now())
     where user_id = ${escapeLiteral(userId)} and id = ${escapeLiteral(jobId)} and status in ('queued', 'running')
     returning attempts, bytes, machine, exists (select 1 from ingest_job earlier where earlier.user_id = job.user_id
       and earlier.body_sha256 = job.body_sha256 and earlier.sequence < job.sequence) as "isRepeat"`,
  ).catch(async (error) => {
    if (error.code === lockNotAvailable) await endStopped(userId, jobId, patience.silentSeconds);
    throw error;
  });
  const [job] = rows;
  if (!job || job.attempts <= maxAttempts) return job;
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
 * it can't even be told, the next try finds the job as running and goes on. A try that ends after the next one began, for
 * its worker was stopped meanwhile, changes nothing.
 *
 * @returns `ended` where there is nothing left to try: the queue's entry must not outlive the job, which may be replayed.
 */
async function putBack(payload: Payload, attempts: number, outage: boolean): Promise<"open" | "ended"> {
  try {
    const { rows } = await pool().query<{ attempts: number }>(
      `update ingest_job set status = 'queued', attempts = greatest(0, attempts - $3)
       where user_id = $1 and id = $2 and status = 'running' and attempts = $4 returning attempts`,
      [payload.userId, payload.jobId, outage ? 1 : 0, attempts],
    );
    if ((rows[0]?.attempts ?? 0) < maxAttempts) return "open";
    await giveUp(payload);
    return "ended";
  } catch (error) {
    if (!isOutage(error)) throw error;
    return "open";
  }
}

/**
 * Ends a job for good. Its upload stays: it is the raw truth of what the client was promised.
 *
 * @param attempts the try that ends it, where it is one: the job stays as it is when another has begun since.
 */
export async function failJob(
  { userId, jobId }: Payload,
  code: string,
  message: string,
  attempts: number | null = null,
): Promise<void> {
  const { rowCount } = await pool().query(
    `update ingest_job set status = 'failed', finished_at = now(), error_code = $3, error_message = $4,
       attempts = least(attempts, $5)
     where user_id = $1 and id = $2 and status in ('queued', 'running') and attempts = coalesce($6, attempts)`,
    [userId, jobId, code, message, maxAttempts, attempts], // the try at which a job is found to have none left is none
  );
  if (rowCount) log.warn({ jobId, code }, "an upload failed");
}
