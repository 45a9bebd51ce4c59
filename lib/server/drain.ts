import "server-only";
import { resumeDeletions } from "#lib/auth/deletion";
import { patiently } from "#lib/db/client";
import { jobsAtOnce } from "#lib/db/pool-size";
import { maskStored } from "#lib/ingest/masking/stored";
import { giveUp } from "#lib/ingest/process/attempts";
import { reconcileJobs } from "#lib/ingest/process/reconcile";
import { runJob } from "#lib/ingest/process/run-job";
import { removeObjects } from "#lib/ingest/raw/removal";
import { ingestPayload } from "#lib/ingest/schema";
import { accountTraces } from "#lib/ledger/account";
import { limits } from "#lib/limits";
import { log } from "#lib/log";
import { writeCounts } from "#lib/observability/counters";
import { sendHeartbeat, substituteId } from "#lib/observability/heartbeat";
import { settleProjects } from "#lib/projects/settle";
import { superviseQueues, takeOne } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import { compactNext } from "#lib/search/compact";
import { indexNext } from "#lib/search/indexer";
import { purgeNext } from "#lib/search/purge";
import { housekeepHourly } from "#lib/server/housekeeping";
import { refreshPriceList, takePriceList } from "#lib/server/price-list";
import { forwardDue } from "#lib/telemetry/forward";
import { purgeDeleted } from "#lib/traces/purge";

/** A longer backlog is left to the next calls. */
const ledgerSeconds = 5;
/** How long a call forwards telemetry, after the uploads; an attempt in flight ends within 10 s. */
const forwardSeconds = 3;

/** How long a call masks stored secrets. */
const maskingSeconds = 5;

/** A merge of large blocks is begun where so much time is left. */
const compactionMs = 10_000;

/** How long a call deletes objects of the store of uploads. */
const removalSeconds = 3;

/**
 * Does a worker's work for a bounded time, for hosts without one: requeues entries of dead processes, enqueues jobs that lost
 * their entry, processes queued uploads, purges deleted traces, keeps the ledger, updates and compacts the search index, forwards telemetry,
 * and does the hourly housekeeping.
 *
 * @param seconds how long to keep taking jobs; the last ones taken may end later.
 * @returns how many queue entries were worked on, and whether none was left to take.
 */
export function drainQueues(
  seconds: number = limits.cron.drainSeconds,
): Promise<{ processed: number; drained: boolean }> {
  return patiently(() => drain(seconds));
}

async function drain(seconds: number): Promise<{ processed: number; drained: boolean }> {
  const deadline = performance.now() + seconds * 1000;
  await sendHeartbeat(substituteId);
  await superviseQueues();
  await resumeDeletions();
  await reconcileJobs();
  await takePriceList().catch((error) => log.warn({ err: error }, "the price list could not be read"));
  const uploads = await drainUploads(deadline);
  await purgeDeleted(Math.max(1, (deadline - performance.now()) / 1000));
  await accountTraces(ledgerSeconds);
  await settleProjects(ledgerSeconds);
  await maskStored(maskingSeconds);
  while (performance.now() < deadline && (await indexNext()) > 0);
  while (performance.now() < deadline && (await purgeNext()));
  while (performance.now() < deadline - compactionMs && (await compactNext(async () => performance.now() < deadline)));
  await forwardDue(AbortSignal.timeout(forwardSeconds * 1000));
  await removeObjects(removalSeconds).catch((error) => log.warn({ err: error }, "objects could not be deleted"));
  await housekeepHourly();
  await refreshPriceList();
  await sendHeartbeat(substituteId);
  await writeCounts(); // a serverless function may not run again
  return uploads;
}

/** Processes queued uploads, several at a time, until none is left or the deadline (`performance.now()`) has passed. */
export async function drainUploads(deadline: number): Promise<{ processed: number; drained: boolean }> {
  const results = await Promise.all(Array.from({ length: jobsAtOnce() }, () => takeUntil(deadline)));
  return {
    processed: results.reduce((sum, { processed }) => sum + processed, 0),
    drained: results.every(({ drained }) => drained),
  };
}

/** Takes queue entries one after the other until none is left or the deadline has passed. */
async function takeUntil(deadline: number): Promise<{ processed: number; drained: boolean }> {
  for (let processed = 0; ; processed += 1) {
    if (performance.now() >= deadline) return { processed, drained: false };
    const took =
      (await takeOne(queues.ingest, (data) => runJob(ingestPayload.parse(data)))) ||
      (await takeOne(queues.ingestDead, (data) => giveUp(ingestPayload.parse(data))));
    if (!took) return { processed, drained: true };
  }
}
