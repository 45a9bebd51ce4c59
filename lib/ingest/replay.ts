import "server-only";
import { type Queryable, transaction } from "#lib/db/client";
import { SpoorError } from "#lib/errors";
import { getJob } from "#lib/ingest/jobs";
import { limits } from "#lib/limits";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";

/**
 * Puts a failed job back into the queue as if it had just been accepted: its tries begin anew. Its place in the order of
 * the user's uploads stays, so that it overwrites nothing newer.
 *
 * @throws SpoorError `not_found` for a missing job, another user's, and one whose upload is no longer kept;
 *   `invalid_request` for one that did not fail. Of several calls at once exactly one succeeds.
 */
export async function replayJob(userId: string, jobId: string): Promise<void> {
  await prepareQueue();
  const replayed = await transaction((tx) => putBackFailed(tx, userId, { jobId, maxJobs: 1 }));
  if (replayed.length > 0) return;
  const { status } = await getJob(userId, jobId);
  if (status === "failed") throw new SpoorError("not_found", "This upload is no longer kept. Send it again.");
  throw new SpoorError("invalid_request", `Only a failed upload can be replayed; this one ${states[status]}.`);
}

const states = {
  queued: "waits already",
  running: "is being processed already",
  succeeded: "was processed",
} as const;

/**
 * Puts a user's failed jobs back into the queue, the oldest first and at most `limits.ingest.replaysAtOnce` of them.
 *
 * @returns how many were put back; how many more could be; and how many can't, since their uploads are no longer kept.
 */
export async function replayFailedJobs(userId: string): Promise<{ replayed: number; left: number; gone: number }> {
  await prepareQueue();
  return transaction(async (tx) => {
    const replayed = await putBackFailed(tx, userId, { jobId: null, maxJobs: limits.ingest.replaysAtOnce });
    const { rows } = await tx.query<{ left: number; gone: number }>(
      `select count(*) filter (where kept)::int as left, count(*) filter (where not kept)::int as gone
       from (select ${isKept} as kept from ingest_job job where user_id = $1 and status = 'failed') as failed`,
      [userId],
    );
    return { replayed: replayed.length, left: rows[0]?.left ?? 0, gone: rows[0]?.gone ?? 0 };
  });
}

type Which = { jobId: string | null; maxJobs: number };

const isKept = "exists (select 1 from upload where upload.user_id = job.user_id and upload.job_id = job.id)";

/** @returns the ids of the jobs that this call put back; one that another call just did is waited for and left out */
async function putBackFailed(tx: Queryable, userId: string, { jobId, maxJobs }: Which): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `with failed as materialized (
       select id from ingest_job job
       where user_id = $1 and status = 'failed' and ($2::uuid is null or id = $2) and ${isKept}
       order by sequence limit $3 for update)
     update ingest_job job set status = 'queued', attempts = 0, started_at = null, finished_at = null,
       error_code = null, error_message = null
     from failed where job.user_id = $1 and job.id = failed.id returning job.id`,
    [userId, jobId, maxJobs],
  );
  const ids = rows.map(({ id }) => id);
  await enqueue(
    tx,
    queues.ingest,
    ids.map((id) => ({ userId, jobId: id })),
  );
  return ids;
}
