import "server-only";
import { transaction } from "#lib/db/client";
import { findLostJobs, lockOpenJobs, withoutEntry } from "#lib/ingest/process/sql/job";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";

/** How many jobs one call enqueues at most; the next call continues. */
const maxAtOnce = 5000;

/**
 * Enqueues every open job that has no queue entry, such as after the queue's tables were lost or restored from another
 * backup than the jobs. Normally there is none: a job and its entry commit together.
 *
 * @returns how many were enqueued. Of several calls at once, and of a replay at the same time, one enqueues a job.
 */
export async function reconcileJobs(): Promise<number> {
  const suspects = await findLostJobs(maxAtOnce);
  if (suspects.length === 0) return 0;
  await prepareQueue();
  return transaction(async (tx) => {
    const lost = await withoutEntry(tx, await lockOpenJobs(tx, suspects));
    await enqueue(tx, queues.ingest, lost);
    return lost.length;
  });
}
