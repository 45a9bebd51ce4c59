import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { log } from "#lib/core/log";
import { pool } from "#lib/db/client";
import { makeCompaction } from "#lib/search/index/compact";
import { indexNext } from "#lib/search/index/indexer";
import { purgeNext } from "#lib/search/index/purge";
import { markOutdated } from "#lib/search/index/sql/merge";
import { readWaitingAges } from "#lib/search/index/sql/write";

const idleMs = 1000;
const yielding = { maxMs: 2000, pollMs: 10 };
const settledSeconds = 2.5;
/** Multiples of the last batch's duration. After `overloadedSeconds` of backlog, indexing backs off. */
const pauses = { usually: 1, overloaded: 10, overloadedSeconds: 15 };
const arrivingSeconds = 3;
const purgeMs = 10_000;

const idle = { isIdle: true, pauseMs: idleMs };

type Load = { uploadsWait: () => Promise<boolean>; jobsRun: () => boolean };

/** @param load.jobsRun jobs in this process, whose event loop indexing would block */
export async function keepIndexing(signal: AbortSignal, load: Load): Promise<void> {
  let purgedAt = 0;
  let isCurrent = false;
  const compaction = makeCompaction(
    async () =>
      !signal.aborted && !load.jobsRun() && (await readWaitingAges()).oldest === null && !(await load.uploadsWait()),
  );
  const work = async () => {
    const { isIdle, pauseMs } = await indexBatch(load).catch((error) => {
      log.warn({ err: error }, "indexing failed and is retried");
      return idle;
    });
    if (!isIdle) compaction.postpone();
    if (isIdle && !isCurrent) isCurrent = !(await markOutdated(pool()));
    if (!isIdle && performance.now() - purgedAt < purgeMs) return pauseMs;
    purgedAt = performance.now();
    if (await purgeNext()) return Math.max(isIdle ? 0 : pauseMs, performance.now() - purgedAt);
    if (isIdle) await compaction.next();
    return pauseMs;
  };
  while (!signal.aborted) {
    const pauseMs = await work().catch((error) => {
      log.warn({ err: error }, "the index could not be tidied up; it is retried");
      return idleMs;
    });
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => {}); // ends early on abort
  }
}

async function indexBatch({ uploadsWait, jobsRun }: Load): Promise<{ isIdle: boolean; pauseMs: number }> {
  const waiting = await readWaitingAges();
  if (waiting.oldest === null || waiting.newest === null) return idle;
  const isBusy = waiting.newest < arrivingSeconds || (await uploadsWait());
  const startedAt = performance.now();
  let leftMs = yielding.maxMs;
  const yieldToJobs = async () => {
    for (; jobsRun() && leftMs > 0; leftMs -= yielding.pollMs) await sleep(yielding.pollMs);
  };
  if ((await indexNext(settledSeconds, yieldToJobs, isBusy ? "busy" : "idle")) === 0) return idle;
  const factor = waiting.oldest > pauses.overloadedSeconds ? pauses.overloaded : pauses.usually;
  return { isIdle: false, pauseMs: isBusy ? factor * (performance.now() - startedAt) : 0 };
}
