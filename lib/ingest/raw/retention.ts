import "server-only";
import { prisma } from "#lib/db/client";
import { env } from "#lib/env";
import { postgresCode } from "#lib/errors";
import { deleteRemoved, removeFailedUploads } from "#lib/ingest/raw/sql";
import { limits } from "#lib/limits";
import { log } from "#lib/log";

/**
 * Removes the raw uploads of jobs that succeeded more than `UPLOAD_RETENTION_DAYS` ago, and of jobs that failed more than 30
 * days ago: these say so, and can't be replayed any more. A body goes with the last upload that shares it.
 *
 * @returns how many
 */
export async function purgeUploads(): Promise<number> {
  const finishedAt = { lt: daysAgo(env().UPLOAD_RETENTION_DAYS) };
  const { count } = await prisma().upload.updateMany({
    where: { removedAt: null, job: { status: "succeeded", finishedAt } },
    data: { removedAt: new Date(), manifest: null },
  });
  const failed = await removeFailed(limits.ingest.failedUploadDays);
  await deleteRemoved().catch((error) => {
    if (postgresCode(error) !== foreignKeyViolation) throw error;
    log.info("a removed upload was shared at this moment; the next housekeeping deletes it");
  });
  return count + failed;
}

async function removeFailed(days: number): Promise<number> {
  const due = await prisma().ingestJob.findMany({
    where: { status: "failed", finishedAt: { lt: daysAgo(days) }, upload: { removedAt: null } },
    select: { userId: true, id: true },
  });
  let removed = 0;
  for (const [userId, jobs] of Map.groupBy(due, (job) => job.userId)) {
    const ids = jobs.map(({ id }) => id);
    removed += await removeFailedUploads(userId, ids, days);
  }
  return removed;
}

/** Releases the idempotency keys that are older than they are kept. @returns how many */
export async function purgeIdempotencyKeys(): Promise<number> {
  const { count } = await prisma().ingestJob.updateMany({
    where: { idempotencyKey: { not: null }, createdAt: { lt: daysAgo(limits.ingest.idempotencyKeyDays) } },
    data: { idempotencyKey: null },
  });
  return count;
}

const foreignKeyViolation = "23503";

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
