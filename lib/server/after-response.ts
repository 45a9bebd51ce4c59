// On a host without a worker, the process that accepted an upload processes it after its response.
import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { after } from "next/server";
import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { patiently } from "#lib/db/client";
import { hasOwnServer } from "#lib/http/address";
import { limits } from "#lib/limits";
import { log } from "#lib/log";
import { writeCounts } from "#lib/observability/counters";
import { deleteHeartbeat, hasLastingWorker, sendHeartbeat, substituteId, takeTurn } from "#lib/observability/heartbeat";
import { boundRun, drainUploads } from "#lib/server/drain";
import { otherTasks, queueTasks } from "#lib/server/tasks";

/** At most this many processes work at a time. */
const turns = [0, 1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000d00${n}`);
/** The lease of a turn, after which a killed process loses it. */
const turnSeconds = 3;
const renewMs = 1000;
/** Later uploads no longer wait for a run that takes this long. */
const stuckMs = 120_000;
/** A worker that was seen is not looked for again for this long. */
const workerMs = 5000;

type Run = { run?: Promise<void>; workerUntil: number };
const state = oncePerProcess("processing after a response", (): Run => ({ workerUntil: 0 }));

/**
 * Processes the upload that was just stored once the response is sent, unless there is a worker. `/api/cron` does what
 * is left.
 */
export function processSoon(): void {
  if (hasOwnServer()) return; // workers are processes of their own there
  after(() =>
    processUploads().catch((error) => log.warn({ err: error }, "uploads wait for the next call of /api/cron")),
  );
}

/** Uploads that are stored during a run share the next one. */
async function processUploads(): Promise<void> {
  await state.run?.catch(() => {});
  if (performance.now() < state.workerUntil) return;
  state.run ??= Promise.race([patiently(run), sleep(stuckMs, undefined, { ref: false })]).finally(() => {
    delete state.run;
  });
  await state.run;

  async function run(): Promise<void> {
    if (await hasLastingWorker()) state.workerUntil = performance.now() + workerMs;
    else await processInTurn();
  }
}

async function processInTurn(): Promise<void> {
  const deadline = performance.now() + limits.cron.afterResponseSeconds * 1000;
  let found = 1;
  while (found > 0 && performance.now() < deadline) {
    const turn = await findTurn();
    // Each holder looks at the queue once more after it ends its turn.
    if (!turn) return;
    const renewing = setInterval(() => sendHeartbeat(turn, "turn").catch(() => {}), renewMs);
    try {
      await work(deadline);
    } finally {
      clearInterval(renewing);
      await deleteHeartbeat(turn);
    }
    found = (await drainUploads(deadline)).processed;
  }
}

/** Waits out the lease of a killed process if all turns are taken. */
async function findTurn(): Promise<string | undefined> {
  const turn = await takeTurn(turns, turnSeconds);
  if (turn) return turn;
  await sleep((turnSeconds + Math.random()) * 1000);
  return takeTurn(turns, turnSeconds);
}

/** Looks for uploads again before each task and each step of one. */
async function work(deadline: number): Promise<void> {
  await drainUploads(deadline);
  await sendHeartbeat(substituteId);
  const hasTime = async () => {
    await drainUploads(deadline);
    return performance.now() < deadline;
  };
  for (const { run, afterUpload } of [...queueTasks, ...otherTasks]) {
    if (afterUpload && (await hasTime())) await run({ ...boundRun(deadline, afterUpload.seconds), hasTime });
  }
  await writeCounts(); // a function may not run again
}
