// A worker repeats each task; without a worker, `/api/cron` runs them in this order, and some run after an upload.
import "server-only";
import { resumeDeletions } from "#lib/auth/deletion";
import { purgeLimits } from "#lib/http/rate-limit";
import { maskStored } from "#lib/ingest/masking/stored";
import { reconcileJobs, undoFuture } from "#lib/ingest/process/reconcile";
import { removeObjects } from "#lib/ingest/raw/removal";
import { accountTraces } from "#lib/ledger/account";
import { settleProjects } from "#lib/projects/settle";
import { superviseQueues } from "#lib/queue/enqueuer";
import { compactNext } from "#lib/search/index/compact";
import { indexNext } from "#lib/search/index/indexer";
import { purgeNext } from "#lib/search/index/purge";
import { forwardDue, undoFutureWaits } from "#lib/telemetry/forward";
import { purgeDeleted } from "#lib/traces/purge";
import { housekeepHourly } from "#server/background/housekeeping";
import { refreshPriceList, takePriceList } from "#server/background/price-list";

type TaskRun = {
  seconds: number;
  signal: AbortSignal;
  hasTime: () => Promise<boolean>;
  settledSeconds: () => Promise<number>;
};

/** Without `seconds`, a run may take the remaining time of its call. */
type TaskBudget = { seconds?: number };

export type BackgroundTask = {
  name: string;
  run: (run: TaskRun) => Promise<unknown>;
  /** Absent if the worker's queue or the index's schedule does the same. */
  worker?: TaskBudget & { pauseMs: number; atStart?: true };
  cron?: TaskBudget;
  /** Also runs after an upload on a host without a worker. */
  afterUpload?: TaskBudget;
};

/** These return lost uploads to the queue, so they run before uploads are taken. */
export const queueTasks: readonly BackgroundTask[] = [
  { name: "undoFuture", worker: { pauseMs: 60_000, atStart: true }, run: undoFuture },
  { name: "superviseQueues", afterUpload: {}, run: superviseQueues },
  { name: "reconcileJobs", worker: { pauseMs: 60_000, atStart: true }, run: reconcileJobs },
];

const compactionSeconds = 10;

export const otherTasks: readonly BackgroundTask[] = [
  {
    name: "resumeDeletions",
    worker: { pauseMs: 10_000, seconds: 8 },
    cron: { seconds: 5 },
    run: ({ seconds, signal }) => resumeDeletions(seconds, signal),
  },
  { name: "undoFutureWaits", worker: { pauseMs: 60_000, atStart: true }, run: undoFutureWaits },
  { name: "takePriceList", worker: { pauseMs: 60_000, atStart: true }, run: takePriceList },
  {
    name: "purgeDeleted",
    worker: { pauseMs: 5000, seconds: 8 },
    run: ({ seconds }) => purgeDeleted(seconds),
  },
  {
    name: "accountTraces",
    worker: { pauseMs: 1000, seconds: 1 },
    cron: { seconds: 5 },
    afterUpload: { seconds: 2 },
    run: async ({ seconds, settledSeconds }) => accountTraces(seconds, await settledSeconds()),
  },
  {
    name: "settleProjects",
    worker: { pauseMs: 1000, seconds: 1 },
    cron: { seconds: 5 },
    afterUpload: { seconds: 2 },
    run: ({ seconds }) => settleProjects(seconds),
  },
  {
    name: "maskStored",
    worker: { pauseMs: 1000, seconds: 8 },
    cron: { seconds: 5 },
    run: ({ seconds }) => maskStored(seconds),
  },
  {
    name: "indexNext",
    afterUpload: {},
    run: async ({ hasTime }) => {
      while ((await hasTime()) && (await indexNext()) > 0);
    },
  },
  {
    name: "purgeNext",
    run: async ({ hasTime }) => {
      while ((await hasTime()) && (await purgeNext()));
    },
  },
  {
    name: "compactNext",
    run: async ({ hasTime, seconds }) => {
      const lastBegin = performance.now() + (seconds - compactionSeconds) * 1000;
      while (performance.now() < lastBegin && (await compactNext(hasTime)));
    },
  },
  {
    name: "forwardDue",
    worker: { pauseMs: 2000 },
    cron: { seconds: 3 },
    run: ({ signal }) => forwardDue(signal),
  },
  {
    name: "removeObjects",
    worker: { pauseMs: 10_000, seconds: 8 },
    cron: { seconds: 3 },
    run: ({ seconds }) => removeObjects(seconds),
  },
  { name: "purgeLimits", worker: { pauseMs: 300_000 }, run: purgeLimits },
  { name: "housekeepHourly", worker: { pauseMs: 300_000 }, run: housekeepHourly },
  { name: "refreshPriceList", worker: { pauseMs: 60_000 }, run: refreshPriceList },
];
