import "server-only";
import { prisma } from "#lib/db/client";
import { env } from "#lib/env";
import { limits } from "#lib/limits";

/** Deletes the raw uploads of jobs that succeeded more than `UPLOAD_RETENTION_DAYS` ago. @returns how many */
export async function purgeUploads(): Promise<number> {
  const { count } = await prisma().upload.deleteMany({
    where: { job: { status: "succeeded", finishedAt: { lt: daysAgo(env().UPLOAD_RETENTION_DAYS) } } },
  });
  return count;
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
