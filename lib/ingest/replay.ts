import "server-only";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { type Db, prisma } from "#lib/db/client";
import { getJob } from "#lib/ingest/jobs";
import { reserveForReplay } from "#lib/ingest/quota/quota";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";

/**
 * The job keeps its place among the user's uploads; of several calls at once exactly one succeeds.
 * @throws SpoorError `not_found`, `invalid_request` if it did not fail, `payload_too_large` over the quota
 */
export async function replayJob(userId: string, jobId: string): Promise<void> {
  await prepareQueue();
  const replayed = await prisma().$transaction((tx) => requeueFailed(tx, userId, [jobId]));
  if (replayed === 1) return;
  const { status } = await getJob(userId, jobId);
  if (status === "failed") throw new SpoorError("not_found", "This upload is no longer stored. Send it again.");
  throw new SpoorError("invalid_request", `Only a failed upload can be replayed; this one ${states[status]}.`);
}

const states = {
  queued: "is queued already",
  running: "is being processed already",
  succeeded: "was processed",
} as const;

/** A removed upload exists only for others that share its body. */
const isKept = { removedAt: null };

/** Oldest first. @returns how many were requeued, are left, or have lost their uploads */
export async function replayFailedJobs(userId: string): Promise<{ replayed: number; left: number; gone: number }> {
  await prepareQueue();
  return prisma().$transaction(async (tx) => {
    const failed = { userId, status: "failed" };
    const oldest = await tx.ingestJob.findMany({
      where: { ...failed, upload: isKept },
      orderBy: { sequence: "asc" },
      take: limits.ingest.maxReplays,
      select: { id: true },
    });
    const replayed = await requeueFailed(
      tx,
      userId,
      oldest.map(({ id }) => id),
    );
    const left = await tx.ingestJob.count({ where: { ...failed, upload: isKept } });
    const gone = await tx.ingestJob.count({ where: { ...failed, NOT: { upload: isKept } } });
    return { replayed, left, gone };
  });
}

async function requeueFailed(tx: Db, userId: string, jobIds: string[]): Promise<number> {
  const requeued = await tx.ingestJob.updateManyAndReturn({
    where: { userId, id: { in: jobIds }, status: "failed", upload: isKept },
    data: { status: "queued", attempts: 0, startedAt: null, finishedAt: null, errorCode: null, errorMessage: null },
    select: { id: true },
  });
  await reserveForReplay(
    tx,
    userId,
    requeued.map(({ id }) => id),
  );
  await enqueue(
    tx,
    queues.ingest,
    requeued.map(({ id }) => ({ userId, jobId: id })),
    () => requeued.length,
  );
  return requeued.length;
}
