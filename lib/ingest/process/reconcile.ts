import "server-only";
import { log } from "#lib/core/log";
import { pool, transaction } from "#lib/db/client";
import type { JobId } from "#lib/ingest/process/attempts";
import { forgetHeartbeats, hastenEntries, hastenQueues, hastenTraces } from "#lib/ingest/process/sql/future";
import { lockOpenJobs, readOpenJobs, withoutEntry } from "#lib/ingest/process/sql/job";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";

/** Makes entries due that were scheduled while a clock was ahead. */
export async function undoFuture(): Promise<void> {
  await forgetHeartbeats();
  const [queues, entries, traces] = [await hastenQueues(), await hastenEntries(), await hastenTraces()];
  if (queues + entries + traces > 0)
    log.warn({ queues, entries, traces }, "the database's clock was set back; what waited for it is done now");
}

const maxAtOnce = 5000;

/** Jobs lose their entries when another backup is restored. Simultaneous calls enqueue a job once. */
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
    // A statement sees what others committed before the rows were locked.
    const lost = await withoutEntry(tx, await lockOpenJobs(tx, userId, suspects));
    await enqueue(tx, queues.ingest, lost);
    return lost.length;
  });
}
