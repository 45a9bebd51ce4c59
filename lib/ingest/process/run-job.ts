import "server-only";
import type { PoolClient } from "pg";
import { isOutage, SpoorError, StoreOutageError } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { type Settings, transaction } from "#lib/db/client";
import { freeSpace } from "#lib/db/sql/vacuum";
import { failJob, giveUp, type JobId, maxAttempts, putBack } from "#lib/ingest/process/attempts";
import { type MergeResult, mergeBatch } from "#lib/ingest/process/merge";
import {
  type Attempt,
  claimJob,
  endUpload,
  lockJob,
  markSucceeded,
  nameConnection,
  terminateSilentWorker,
} from "#lib/ingest/process/sql/job";
import { type StoredBatch, withStoredBatch } from "#lib/ingest/process/stored-batch";
import { countAttempt, countRows } from "#lib/observability/counters";
import { isUnmigrated } from "#lib/observability/readiness";
import { traced } from "#lib/observability/tracing";

/** Against a stopped worker (SIGSTOP, a lost host), whose connection another attempt ends after `silentSeconds`. */
const defaultTimeouts = { idleSeconds: 30, lockSeconds: 5, silentSeconds: 10 };

/**
 * Rows and `succeeded` commit together, so that running it twice changes nothing. Only a fault of the batch ends the job as
 * `failed`.
 */
export function runJob(job: JobId, timeouts = defaultTimeouts): Promise<void> {
  return traced("ingest.job", { "spoor.job": job.jobId }, () => attemptJob(job, timeouts));
}

async function attemptJob(job: JobId, timeouts: typeof defaultTimeouts): Promise<void> {
  const attempt = await claim(job, timeouts);
  if (!attempt) return;
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  try {
    const merged = await processUpload(job, attempt, timeouts);
    if (merged) {
      const { created, updated, unchanged, kept, incomplete, written } = merged;
      countRows({
        created,
        updated,
        unchanged,
        kept: kept.deleted + kept.newer + kept.shorter,
        incomplete: incomplete.length,
        written,
      });
      countAttempt("succeeded", seconds());
      await freeSpace("message", merged.deletedBytes);
    }
    log.info({ jobId: job.jobId, milliseconds: Math.round(seconds() * 1000) }, "an upload was processed");
  } catch (error) {
    if (error instanceof SpoorError && error.code !== "unavailable") {
      countAttempt("failed", seconds());
      return failJob(job, error.code, describeFaults(error), { duringAttempt: attempt.attempts });
    }
    const { code, stack } = error as { code?: unknown; stack?: string };
    log.warn({ jobId: job.jobId, code, stack }, "an attempt to process an upload failed");
    const after = await putBack(job, attempt.attempts, isAway(error) || (await isUnmigrated(error)));
    countAttempt(after === "ended" ? "failed" : "retried", seconds());
    if (after === "ended") return;
    throw error;
  }
}

/** @returns undefined if the job has ended or has no attempts left */
async function claim(job: JobId, { lockSeconds, silentSeconds }: typeof defaultTimeouts): Promise<Attempt | undefined> {
  try {
    const attempt = await claimJob(job, lockSeconds);
    if (!attempt || attempt.attempts <= maxAttempts) return attempt;
  } catch (error) {
    const isLocked = (error as { code?: string }).code === lockNotAvailable;
    if (isLocked && (await terminateSilentWorker(job, silentSeconds))) {
      log.warn({ jobId: job.jobId }, "the connection of a stopped worker was ended");
    }
    throw error;
  }
  await giveUp(job, maxAttempts); // this claim is not an attempt
  return undefined;
}

/** A batch that a thread gave up on counts as faulty. */
const isAway = (error: unknown): boolean =>
  error instanceof SpoorError ? error instanceof StoreOutageError : isOutage(error);

const lockNotAvailable = "55P03";

function processUpload(
  job: JobId,
  { bytes, machine, isRepeat }: Attempt,
  { idleSeconds }: typeof defaultTimeouts,
): Promise<MergeResult | undefined> {
  const work = (batch: StoredBatch) => async (tx: PoolClient) => {
    const locked = await lockJob(tx, job);
    if (!locked) return undefined;
    const lockedAt = performance.now();
    const result = await mergeBatch(tx, batch, { userId: job.userId, sequence: locked.sequence, machine });
    await markSucceeded(tx, job, result, new Date(locked.now.getTime() + performance.now() - lockedAt));
    if (batch.isStoredUnmasked) await endUpload(tx, job);
    return result;
  };
  const settings: Settings = {
    idle_in_transaction_session_timeout: `${idleSeconds * 1000}ms`,
    application_name: nameConnection(job),
  };
  return withStoredBatch({ ...job, bytes, isRepeat, machine }, (batch) => transaction(work(batch), settings));
}

const maxFaults = 3;

function describeFaults({ message, errors = [] }: SpoorError): string {
  if (errors.length === 0) return message;
  const named = errors.slice(0, maxFaults).map((fault) => `${fault.path} ${fault.message}`);
  const more = errors.length > maxFaults ? `; and ${errors.length - maxFaults} more` : "";
  return `The batch is not valid: ${named.join("; ")}${more}.`;
}
