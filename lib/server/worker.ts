// The worker process: takes jobs from the queues and runs each queue's domain function.
import "server-only";
import { randomUUID } from "node:crypto";
import { constants, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Job } from "pg-boss";
import { z } from "zod";
import { resumeDeletions } from "#lib/auth/deletion";
import { closeDatabase, hasSessions } from "#lib/db/client";
import { jobsAtOnce, leaveConnections } from "#lib/db/pool-size";
import { refuseNewer } from "#lib/db/sql/floor";
import { directDatabaseUrl, setEnv } from "#lib/env";
import { EnvError } from "#lib/errors";
import { purgeLimits } from "#lib/http/rate-limit";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { hasOpenJobs } from "#lib/ingest/jobs";
import { maskStored } from "#lib/ingest/masking/stored";
import { giveUp } from "#lib/ingest/process/attempts";
import { reconcileJobs, undoFuture } from "#lib/ingest/process/reconcile";
import { runJob } from "#lib/ingest/process/run-job";
import { removeObjects } from "#lib/ingest/raw/removal";
import { ingestPayload } from "#lib/ingest/schema";
import { accountTraces } from "#lib/ledger/account";
import { log } from "#lib/log";
import { writeCounts } from "#lib/observability/counters";
import { deleteHeartbeat, sendHeartbeat } from "#lib/observability/heartbeat";
import { flushTracing, startTracing } from "#lib/observability/tracing";
import { ownPrices } from "#lib/prices/own";
import { settleProjects } from "#lib/projects/settle";
import { queues } from "#lib/queue/queues";
import { makeWorkerBoss, queueConnections } from "#lib/queue/worker-boss";
import { keepIndexing } from "#lib/search/schedule";
import { housekeep } from "#lib/server/housekeeping";
import { makeLedgerPace } from "#lib/server/ledger-pace";
import { refreshPriceList, takePriceList } from "#lib/server/price-list";
import { restWhenIdle } from "#lib/server/rest";
import { makeSteps } from "#lib/server/steps";
import { forwardDue, undoFutureWaits } from "#lib/telemetry/forward";
import { purgeDeleted } from "#lib/traces/purge";

const heartbeatMs = 10_000;
const reconcileMs = 60_000;
/** Pause between two purges of deleted traces' messages, and how long one takes at most. */
const purge = { pauseMs: 5000, seconds: 8 };
/** Pause between two looks for accounts that are being deleted, and how long such a deletion is gone on with at most. */
const deletion = { pauseMs: 10_000, seconds: 8 };
/** Pause between two deletions of objects in the store of uploads, and how long one takes at most. */
const removal = { pauseMs: 10_000, seconds: 8 };
/** Pause between two looks for stored secrets that are to be masked, and how long one takes at most. */
const masking = { pauseMs: 1000, seconds: 8 };
/** Pause between two deletions of ended rate limits: strangers can make a row with each request. */
const limitsMs = 300_000;
/** Pause between two checks for changed traces. */
const ledgerMs = 1000;
/** Pause between two looks at the queue of a worker that can't listen. */
const lookMs = 200;
/** Below the 15 seconds within which the process has to end. */
const drainMs = 12_000;
/** Pause between two scans of the telemetry outbox. */
const forwardMs = 2000;
/** Pause between two looks at the price list, which is fetched once a day. */
const pricesMs = 60_000;
const heartbeatFailed = "the worker's heartbeat failed";
const reconcileFailed = "the check for uploads without a queue entry failed";
const pricesFailed = "the price list could not be read";
const polling = { pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 2 };

process.on("SIGINT", () => {}); // Ctrl-C reaches every process of the terminal; the launcher stops this one
await startTracing("spoor-worker");
leaveConnections(queueConnections);
setEnv({ DATABASE_URL: directDatabaseUrl() });
const listens = await hasSessions();
const boss = makeWorkerBoss(directDatabaseUrl(), listens);
const processId = randomUUID();
const stopping = new AbortController();
let loops: Promise<void>[] = [];
/** How many jobs are running in this process. */
let running = 0;
const pace = makeLedgerPace();

/** A handler that validates payloads and runs one entry at a time. */
const handler =
  <T>(schema: z.ZodType<T>, run: (payload: T) => Promise<void>) =>
  async (jobs: Job<object>[]) => {
    for (const job of jobs) await run(schema.parse(job.data));
  };

/**
 * Repeats something until the worker stops, with a pause before each time. For work that is marked in the rows themselves,
 * or that checks the queue; everything else is a queue entry.
 */
async function repeat(pauseMs: number, failure: string, work: () => Promise<unknown>): Promise<void> {
  const { signal } = stopping;
  for (;;) {
    await sleep(pauseMs, undefined, { signal }).catch(() => {}); // ends early if the worker stops
    if (signal.aborted) return;
    await work().catch((error) => log.warn({ err: error }, failure));
  }
}

async function reconcile(): Promise<void> {
  await undoFuture();
  await undoFutureWaits();
  const enqueued = await reconcileJobs();
  if (enqueued > 0) log.warn({ enqueued }, "uploads without an entry in the queue were enqueued again");
}

async function account(): Promise<void> {
  const { step, end } = makeSteps();
  const settledSeconds = pace.settledSeconds(await hasOpenJobs());
  await step("accountTraces", () => accountTraces(ledgerMs / 1000, settledSeconds));
  await step("settleProjects", () => settleProjects(ledgerMs / 1000));
  end();
}

/** The queue's names of the loops that take uploads. */
const takers: string[] = [];

/** Lets them ask for entries now, and not at their next poll. */
async function lookForUploads(): Promise<void> {
  if (await hasOpenJobs()) for (const taker of takers) boss.notifyWorker(taker);
}

/** Takes ingest jobs, one at a time. After each it asks for the next: pg-boss would wait for its next poll. */
async function takeUploads(): Promise<void> {
  const run = handler(ingestPayload, runJob);
  const worker: { id?: string } = {};
  worker.id = await boss.work<object>(queues.ingest, polling, async (jobs) => {
    running += 1;
    const startedAt = performance.now();
    try {
      await run(jobs);
    } finally {
      running -= 1;
      pace.worked(performance.now() - startedAt);
      if (worker.id) boss.notifyWorker(worker.id);
    }
  });
  takers.push(worker.id);
}

async function stop(): Promise<void> {
  stopping.abort();
  await boss.stop({ graceful: true, timeout: drainMs });
  await deleteHeartbeat(processId).catch((error) =>
    log.warn({ err: error }, "the heartbeat could not be deleted at shutdown"),
  );
  await Promise.race([Promise.allSettled([writeCounts(), flushTracing()]), sleep(1000)]);
  // A job that did not end in time keeps its connection open; the queue hands it to another worker.
  await Promise.race([Promise.all([...loops, endThreads()]).then(closeDatabase), sleep(1000)]);
  process.exit(0);
}

process.once("SIGTERM", stop);
process.once("disconnect", stop);

// The web process has priority: an upload that is queued is safe, one not yet accepted is not.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

await refuseNewer().catch((error) => {
  if (!(error instanceof EnvError)) throw error;
  log.fatal(error.message);
  process.exit(1);
});
await boss.start();
for (let n = 0; n < jobsAtOnce(); n += 1) await takeUploads();
await boss.work(queues.ingestDead, polling, handler(ingestPayload, giveUp));
await boss.work(
  queues.housekeeping,
  { pollingIntervalSeconds: 60 },
  handler(z.unknown(), () => housekeep()),
);
await boss.schedule(queues.housekeeping, "17 * * * *");
await sendHeartbeat(processId).catch((error) => log.warn({ err: error }, heartbeatFailed));
await reconcile().catch((error) => log.warn({ err: error }, reconcileFailed));
ownPrices(); // as they are at the start
await takePriceList().catch((error) => log.warn({ err: error }, pricesFailed));
loops = [
  repeat(heartbeatMs, heartbeatFailed, () => sendHeartbeat(processId)),
  repeat(reconcileMs, reconcileFailed, reconcile),
  ...(listens ? [] : [repeat(lookMs, "looking for uploads failed", lookForUploads)]),
  repeat(purge.pauseMs, "the purge of deleted traces failed", () => purgeDeleted(purge.seconds)),
  repeat(deletion.pauseMs, "the deletion of an account failed", () =>
    resumeDeletions(deletion.seconds, stopping.signal),
  ),
  repeat(masking.pauseMs, "masking of stored secrets failed", () => maskStored(masking.seconds)),
  repeat(removal.pauseMs, "objects of the upload store could not be deleted", () => removeObjects(removal.seconds)),
  repeat(limitsMs, "ended rate limits could not be deleted", purgeLimits),
  repeat(ledgerMs, "accounting for sessions failed", account),
  repeat(pricesMs, pricesFailed, () => refreshPriceList().then(takePriceList)),
  repeat(forwardMs, "the telemetry outbox scan failed", () => forwardDue(stopping.signal)),
  keepIndexing(stopping.signal, { uploadsWait: hasOpenJobs, jobsRun: () => running > 0 }),
];
restWhenIdle();
process.send?.("ready");
