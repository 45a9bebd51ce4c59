import "server-only";
import { limits } from "#lib/core/limits";
import { patiently } from "#lib/db/client";
import { jobsAtOnce } from "#lib/db/pool";
import { giveUp } from "#lib/ingest/process/attempts";
import { runJob } from "#lib/ingest/process/run-job";
import { ingestPayload } from "#lib/ingest/schema";
import { writeCounts } from "#lib/observability/counters";
import { sendHeartbeat, substituteId } from "#lib/observability/heartbeat";
import { takeOne } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import { makeSteps } from "#server/background/steps";
import { type BackgroundTask, otherTasks, queueTasks } from "#server/background/tasks";

type Drained = { processed: number; drained: boolean };

/**
 * Does the work of a worker for a bounded time.
 * @returns how many queue entries were processed, and whether the queue was empty at the end
 * @throws at once if the database is away or not migrated, and at the end if a task failed
 */
export const drainQueues = (seconds: number = limits.cron.drainSeconds): Promise<Drained> =>
  patiently(() => drain(seconds));

async function drain(seconds: number): Promise<Drained> {
  const deadline = performance.now() + seconds * 1000;
  const { step, end } = makeSteps();
  const runAll = async (tasks: readonly BackgroundTask[]) => {
    for (const { name, run, cron } of tasks) await step(name, () => run(boundRun(deadline, cron?.seconds)));
  };
  await sendHeartbeat(substituteId);
  await runAll(queueTasks);
  const uploads = await step("drainUploads", () => drainUploads(deadline));
  await runAll(otherTasks);
  await sendHeartbeat(substituteId);
  await step("writeCounts", writeCounts); // a serverless function may not run again
  end();
  return uploads ?? { processed: 0, drained: false };
}

export function boundRun(deadline: number, seconds = Math.max(1, (deadline - performance.now()) / 1000)) {
  return {
    seconds,
    signal: AbortSignal.timeout(Math.ceil(seconds * 1000)),
    hasTime: async () => performance.now() < deadline,
    settledSeconds: async () => 0,
  };
}

export async function drainUploads(deadline: number): Promise<Drained> {
  const results = await Promise.all(Array.from({ length: jobsAtOnce() }, () => takeUntil(deadline)));
  return {
    processed: results.reduce((sum, { processed }) => sum + processed, 0),
    drained: results.every(({ drained }) => drained),
  };
}

async function takeUntil(deadline: number): Promise<Drained> {
  for (let processed = 0; ; processed += 1) {
    if (performance.now() >= deadline) return { processed, drained: false };
    const took =
      (await takeOne(queues.ingest, (data) => runJob(ingestPayload.parse(data)))) ||
      (await takeOne(queues.ingestDead, (data) => giveUp(ingestPayload.parse(data))));
    if (!took) return { processed, drained: true };
  }
}
