import "server-only";
import { pool, transaction } from "#lib/db/client";
import type { JobId } from "#lib/ingest/process/attempts";
import { forgetHeartbeats, hastenEntries, hastenQueues, hastenTraces } from "#lib/ingest/process/sql/future";
import { lockOpenJobs, readOpenJobs, withoutEntry } from "#lib/ingest/process/sql/job";
import { log } from "#lib/log";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";

/**
 * Finishes soon what was put off while the database's clock was ahead: an upload that was accepted then would wait until that
 * time comes again, and so would one whose worker was killed.
 */
export async function undoFuture(): Promise<void> {
  await forgetHeartbeats();
  const [queues, entries, traces] = [await hastenQueues(), await hastenEntries(), await hastenTraces()];
  if (queues + entries + traces > 0)
    log.warn({ queues, entries, traces }, "the database's clock was set back; what waited for it is done now");
}

/** How many jobs are looked at together. */
const maxAtOnce = 5000;

/**
 * Enqueues every open job that has no queue entry, such as after the queue's tables were lost or restored from another
 * backup than the jobs. Normally there is none: a job and its entry commit together.
 *
 * @returns how many were enqueued. Of several calls at once, and of a replay at the same time, one enqueues a job.
 */
export async function reconcileJobs(): Promise<number> {
  let enqueued = 0;
  for (let after: JobId | undefined; ; ) {
    const open = await readOpenJobs(after, maxAtOnce);
    const suspects = await withoutEntry(pool(), open);
    for (const [userId, jobs] of Map.groupBy(suspects, (job) => job.userId))
      enqueued += await enqueueLost(userId, jobs);
    if (open.length < maxAtOnce) break;
    after = open.at(-1);
  }
  if (enqueued > 0) log.warn({ enqueued }, "uploads without an entry in the queue were enqueued again");
  return enqueued;
}

async function enqueueLost(userId: string, suspects: JobId[]): Promise<number> {
  await prepareQueue();
  return transaction(async (tx) => {
    // Asked again: a statement sees what others committed before the rows were locked.
    const lost = await withoutEntry(tx, await lockOpenJobs(tx, userId, suspects));
    await enqueue(tx, queues.ingest, lost);
    return lost.length;
  });
}
