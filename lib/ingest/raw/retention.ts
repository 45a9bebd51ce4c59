import "server-only";
import { prisma } from "#lib/db/client";
import { env } from "#lib/env";
import { deleteFailedUploads } from "#lib/ingest/raw/sql";
import { limits } from "#lib/limits";

/**
 * Deletes the raw uploads of jobs that succeeded more than `UPLOAD_RETENTION_DAYS` ago, and of jobs that failed more than 30
 * days ago: these say so, and can't be replayed any more.
 *
 * @returns how many
 */
export async function purgeUploads(): Promise<number> {
  const { count } = await prisma().upload.deleteMany({
    where: { job: { status: "succeeded", finishedAt: { lt: daysAgo(env().UPLOAD_RETENTION_DAYS) } } },
  });
  return count + (await deleteFailedUploads(limits.ingest.failedUploadDays));
}

/** Releases the idempotency keys that are older than they are kept. @returns how many */
export async function purgeIdempotencyKeys(): Promise<number> {
  const { count } = await prisma().ingestJob.updateMany({
    where: { idempotencyKey: { not: null }, createdAt: { lt: daysAgo(limits.ingest.idempotencyKeyDays) } },
    data: { idempotencyKey: null },
  });
  return count;
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
