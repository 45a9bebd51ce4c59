import "server-only";
import { env } from "#lib/core/env";
import { postgresCode } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { log } from "#lib/core/log";
import { prisma } from "#lib/db/client";
import { deleteRemoved, removeFailedUploads } from "#lib/ingest/raw/sql";

/** A body goes with the last upload that shares it. @returns how many */
export async function purgeUploads(): Promise<number> {
  const succeeded = await removeSucceeded(daysAgo(env().UPLOAD_RETENTION_DAYS));
  const failed = await removeFailed(limits.ingest.failedUploadDays);
  const users = await prisma().upload.groupBy({ by: ["userId"], where: { removedAt: { not: null } } });
  for (const { userId } of users) {
    await deleteRemoved(userId).catch((error) => {
      if (postgresCode(error) !== foreignKeyViolation) throw error;
      log.info("a removed upload was shared at this moment; the next housekeeping deletes it");
    });
  }
  return succeeded + failed;
}

async function removeSucceeded(before: Date): Promise<number> {
  const due = { status: "succeeded", finishedAt: { lt: before } } as const;
  const users = await prisma().upload.groupBy({ by: ["userId"], where: { removedAt: null, job: due } });
  let removed = 0;
  for (const { userId } of users) {
    const { count } = await prisma().upload.updateMany({
      where: { userId, removedAt: null, job: { userId, ...due } },
      data: { removedAt: new Date(), manifest: null },
    });
    removed += count;
  }
  return removed;
}

async function removeFailed(days: number): Promise<number> {
  const due = await prisma().ingestJob.findMany({
    where: { status: "failed", finishedAt: { lt: daysAgo(days) }, upload: { removedAt: null } },
    select: { userId: true, id: true },
  });
  let removed = 0;
  for (const [userId, jobs] of Map.groupBy(due, (job) => job.userId)) {
    const ids = jobs.map(({ id }) => id);
    removed += await removeFailedUploads(userId, ids, `The upload was removed ${days} days later.`);
  }
  return removed;
}

export async function purgeIdempotencyKeys(): Promise<number> {
  const due = { idempotencyKey: { not: null }, createdAt: { lt: daysAgo(limits.ingest.idempotencyKeyDays) } };
  const users = await prisma().ingestJob.groupBy({ by: ["userId"], where: due });
  let released = 0;
  for (const { userId } of users) {
    const { count } = await prisma().ingestJob.updateMany({
      where: { userId, ...due },
      data: { idempotencyKey: null },
    });
    released += count;
  }
  return released;
}

const foreignKeyViolation = "23503";

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
