import "server-only";
import { resumeDeletions } from "#lib/auth/deletion";
import { patiently } from "#lib/db/client";
import { jobsAtOnce } from "#lib/db/pool-size";
import { maskStored } from "#lib/ingest/masking/stored";
import { giveUp } from "#lib/ingest/process/attempts";
import { reconcileJobs, undoFuture } from "#lib/ingest/process/reconcile";
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
import { makeSteps } from "#lib/server/steps";
import { forwardDue, undoFutureWaits } from "#lib/telemetry/forward";
import { purgeDeleted } from "#lib/traces/purge";

/** A longer backlog is left to the next calls. */
const ledgerSeconds = 5;
/** How long a call forwards telemetry, after the uploads; an attempt in flight ends within 10 s. */
const forwardSeconds = 3;

/** How long a call masks stored secrets. */
const maskingSeconds = 5;

/** A merge of large blocks is begun where so much time is left. */
const compactionMs = 10_000;

/** How long a call goes on with the deletion of accounts. */
const deletionSeconds = 5;

/** How long a call deletes objects of the store of uploads. */
const removalSeconds = 3;

/**
 * Does a worker's work for a bounded time, for hosts without one: requeues entries of dead processes, enqueues jobs that lost
 * their entry, goes on with deletions of accounts, processes queued uploads, purges deleted traces, keeps the ledger, updates and
 * compacts the search index, forwards telemetry, and does the hourly housekeeping.
 *
 * A step that fails is logged, and stops none of the others.
 *
 * @param seconds how long to keep taking jobs; the last ones taken may end later.
 * @returns how many queue entries were worked on, and whether none was left to take.
 * @throws where the database is away or not migrated, at once; and at the end, where steps failed
 */
export function drainQueues(
  seconds: number = limits.cron.drainSeconds,
): Promise<{ processed: number; drained: boolean }> {
  return patiently(() => drain(seconds));
}

async function drain(seconds: number): Promise<{ processed: number; drained: boolean }> {
  const deadline = performance.now() + seconds * 1000;
  const isTime = async () => performance.now() < deadline;
  const { step, end } = makeSteps();
  await sendHeartbeat(substituteId);
  await step("undoFuture", undoFuture);
  await step("undoFutureWaits", undoFutureWaits);
  await step("superviseQueues", superviseQueues);
  await step("reconcileJobs", reconcileJobs);
  await step("resumeDeletions", () => resumeDeletions(deletionSeconds));
  await takePriceList().catch((error) => log.warn({ err: error }, "the price list could not be read"));
  const uploads = await step("drainUploads", () => drainUploads(deadline));
  await step("purgeDeleted", () => purgeDeleted(Math.max(1, (deadline - performance.now()) / 1000)));
  await step("accountTraces", () => accountTraces(ledgerSeconds));
  await step("settleProjects", () => settleProjects(ledgerSeconds));
  await step("maskStored", () => maskStored(maskingSeconds));
  await step("indexNext", async () => {
    while ((await isTime()) && (await indexNext()) > 0);
  });
  await step("purgeNext", async () => {
    while ((await isTime()) && (await purgeNext()));
  });
  await step("compactNext", async () => {
    while (performance.now() < deadline - compactionMs && (await compactNext(isTime)));
  });
  await step("forwardDue", () => forwardDue(AbortSignal.timeout(forwardSeconds * 1000)));
  await removeObjects(removalSeconds).catch((error) => log.warn({ err: error }, "objects could not be deleted"));
  await step("housekeepHourly", housekeepHourly);
  await step("refreshPriceList", refreshPriceList);
  await sendHeartbeat(substituteId);
  await step("writeCounts", writeCounts); // a serverless function may not run again
  end();
  return uploads ?? { processed: 0, drained: false };
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
