import "server-only";
import { randomUUID } from "node:crypto";
import { constants, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { directDatabaseUrl, setEnv } from "#lib/core/env";
import { EnvError } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { closeDatabase, hasSessions } from "#lib/db/client";
import { jobsAtOnce, leaveConnections } from "#lib/db/pool";
import { refuseNewer } from "#lib/db/sql/floor";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { hasOpenJobs } from "#lib/ingest/jobs";
import { giveUp } from "#lib/ingest/process/attempts";
import { runJob } from "#lib/ingest/process/run-job";
import { ingestPayload } from "#lib/ingest/schema";
import { writeCounts } from "#lib/observability/counters";
import { deleteHeartbeat, sendHeartbeat } from "#lib/observability/heartbeat";
import { flushTracing, startTracing } from "#lib/observability/tracing";
import { ownPrices } from "#lib/prices/own";
import { queues } from "#lib/queue/queues";
import { makeWorkerBoss, queueConnections } from "#lib/queue/worker-boss";
import { keepIndexing } from "#lib/search/index/schedule";
import { makeLedgerPace } from "#server/background/ledger-pace";
import { type BackgroundTask, otherTasks, queueTasks } from "#server/background/tasks";
import { restWhenIdle } from "#server/rest";

const heartbeatMs = 10_000;
const lookMs = 200;
/** below the 15 seconds within which the process has to end */
const drainMs = 12_000;
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
let running = 0;
const pace = makeLedgerPace();

async function repeat(name: string, pauseMs: number, work: () => Promise<unknown>): Promise<void> {
  const { signal } = stopping;
  for (;;) {
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    await runLogged(name, work);
  }
}

const runLogged = (task: string, work: () => Promise<unknown>): Promise<unknown> =>
  work().catch((error) => log.warn({ err: error, task }, "a background task failed; it is retried"));

const runTask = ({ run, worker }: BackgroundTask): Promise<unknown> =>
  run({
    seconds: worker?.seconds ?? Number.POSITIVE_INFINITY,
    signal: stopping.signal,
    hasTime: async () => !stopping.signal.aborted,
    settledSeconds: async () => pace.settledSeconds(await hasOpenJobs()),
  });

const beat = () => sendHeartbeat(processId);

/** `lookForUploads` wakes these pollers. */
const takers: string[] = [];

async function lookForUploads(): Promise<void> {
  if (await hasOpenJobs()) for (const taker of takers) boss.notifyWorker(taker);
}

/** Requests the next job immediately; pg-boss would wait for its next poll. */
async function takeUploads(): Promise<void> {
  const worker: { id?: string } = {};
  worker.id = await boss.work<object>(queues.ingest, polling, async ([job]) => {
    running += 1;
    const startedAt = performance.now();
    try {
      await runJob(ingestPayload.parse(job?.data));
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
  // A job that does not end in time keeps its connection open; the queue gives it to another worker.
  await Promise.race([Promise.all([...loops, endThreads()]).then(closeDatabase), sleep(1000)]);
  process.exit(0);
}

process.once("SIGTERM", stop);
process.once("disconnect", stop);

// A queued upload is safe, one not yet accepted is not: the web process has priority.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

await refuseNewer().catch((error) => {
  if (!(error instanceof EnvError)) throw error;
  log.fatal(error.message);
  process.exit(1);
});
await boss.start();
for (let n = 0; n < jobsAtOnce(); n += 1) await takeUploads();
await boss.work<object>(queues.ingestDead, polling, async ([job]) => giveUp(ingestPayload.parse(job?.data)));
await runLogged("heartbeat", beat);
ownPrices();
const tasks = [...queueTasks, ...otherTasks];
for (const task of tasks) if (task.worker?.atStart) await runLogged(task.name, () => runTask(task));
loops = [
  repeat("heartbeat", heartbeatMs, beat),
  ...(listens ? [] : [repeat("lookForUploads", lookMs, lookForUploads)]),
  ...tasks.flatMap((task) => (task.worker ? [repeat(task.name, task.worker.pauseMs, () => runTask(task))] : [])),
  keepIndexing(stopping.signal, { uploadsWait: hasOpenJobs, jobsRun: () => running > 0 }),
];
restWhenIdle();
process.send?.("ready");
