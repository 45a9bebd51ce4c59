import "server-only";
import { pool, type Queryable, transaction } from "#lib/db/client";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import { hasEntrySql } from "#lib/queue/sql";

type Payload = { userId: string; jobId: string };

/** How many jobs one call looks at; the next one goes on. */
const maxAtOnce = 5000;

const isOpen = "status <> 'succeeded' and status in ('queued', 'running')";

/**
 * Enqueues every job again that has not ended and for which no entry of the queue stands any more, such as after the
 * queue's tables were lost or restored from another backup than the jobs. In ordinary times there is none: a job and its
 * entry commit together.
 *
 * @returns how many were enqueued. Of several calls at once, and of a replay at the same time, one enqueues a job.
 */
export async function reconcileJobs(): Promise<number> {
  const { rows: suspects } = await pool().query<Payload>(
    `select user_id as "userId", id as "jobId" from ingest_job
     where ${isOpen} and not ${hasEntrySql("ingest_job.id")} order by sequence limit $1`,
    [maxAtOnce],
  );
  if (suspects.length === 0) return 0;
  await prepareQueue();
  return transaction(async (tx) => {
    const lost = await withoutEntry(tx, await lockOpen(tx, suspects));
    await enqueue(tx, queues.ingest, lost);
    return lost.length;
  });
}

/** Locks those that are still open: a job that somebody else holds at this moment is not lost. */
async function lockOpen(tx: Queryable, jobs: Payload[]): Promise<Payload[]> {
  const { rows } = await tx.query<Payload>(
    `select user_id as "userId", id as "jobId" from ingest_job
     join unnest($1::uuid[], $2::uuid[]) as suspect (user_id, id) using (user_id, id)
     where ${isOpen} order by sequence for update of ingest_job skip locked`,
    [jobs.map(({ userId }) => userId), jobs.map(({ jobId }) => jobId)],
  );
  return rows;
}

/** Asks once more, in a statement that sees what others committed before the rows were locked. */
async function withoutEntry(tx: Queryable, jobs: Payload[]): Promise<Payload[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from unnest($1::uuid[]) as locked (id) where not ${hasEntrySql("locked.id")}`,
    [jobs.map(({ jobId }) => jobId)],
  );
  const lost = new Set(rows.map(({ id }) => id));
  return jobs.filter(({ jobId }) => lost.has(jobId));
}
