// For hosts without a worker.
import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { after } from "next/server";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { limits } from "#lib/core/limits";
import { log } from "#lib/core/log";
import { patiently } from "#lib/db/client";
import { hasOwnServer } from "#lib/http/address";
import { writeCounts } from "#lib/observability/counters";
import { deleteHeartbeat, hasLastingWorker, sendHeartbeat, substituteId, takeTurn } from "#lib/observability/heartbeat";
import { boundRun, drainUploads } from "#server/background/drain";
import { otherTasks, queueTasks } from "#server/background/tasks";

const turns = [0, 1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000d00${n}`);
/** A killed process loses its turn after this. */
const turnSeconds = 3;
const renewMs = 1000;
/** Later uploads do not wait for a longer run. */
const stuckMs = 120_000;
const workerMs = 5000;

type Run = { run?: Promise<void>; workerUntil: number };
const state = oncePerProcess("processing after a response", (): Run => ({ workerUntil: 0 }));

/** `/api/cron` processes what is left. */
export function processSoon(): void {
  if (hasOwnServer()) return; // workers are separate processes there
  after(() =>
    processUploads().catch((error) => log.warn({ err: error }, "uploads wait for the next call of /api/cron")),
  );
}

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
    // Each process checks the queue once more after it ends its turn.
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

/** Waits until a killed process has lost its turn. */
async function findTurn(): Promise<string | undefined> {
  const turn = await takeTurn(turns, turnSeconds);
  if (turn) return turn;
  await sleep((turnSeconds + Math.random()) * 1000);
  return takeTurn(turns, turnSeconds);
}

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
