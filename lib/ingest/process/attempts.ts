import "server-only";
import type { z } from "zod";
import { isOutage } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { prisma } from "#lib/db/client";
import { type ingestPayload, openStatuses } from "#lib/ingest/schema";

export type JobId = z.output<typeof ingestPayload>;

export const maxAttempts = 5;

/**
 * An outage does not count. An attempt that ends after the next one began changes nothing.
 * @returns `ended` if the queue entry must be removed, since the job may be replayed
 */
export async function putBack(job: JobId, attempts: number, outage: boolean): Promise<"open" | "ended"> {
  const counted = outage ? Math.max(0, attempts - 1) : attempts;
  try {
    const { count } = await prisma().ingestJob.updateMany({
      where: { userId: job.userId, id: job.jobId, status: "running", attempts },
      data: { status: "queued", attempts: counted },
    });
    if (count === 0 || counted < maxAttempts) return "open";
    await giveUp(job);
    return "ended";
  } catch (error) {
    if (!isOutage(error)) throw error;
    return "open";
  }
}

/** @param attempts replaces the count */
export async function giveUp(job: JobId, attempts?: number): Promise<void> {
  await failJob(
    job,
    "processing_failed",
    "The server could not process this upload. The server's log contains the cause.",
    { attempts },
  );
}

/**
 * Its upload stays, as the client was promised.
 * @param more.duringAttempt leaves the job alone if another attempt has begun since
 */
export async function failJob(
  { userId, jobId }: JobId,
  errorCode: string,
  errorMessage: string,
  { duringAttempt, attempts }: { duringAttempt?: number; attempts?: number | undefined } = {},
): Promise<void> {
  const { count } = await prisma().ingestJob.updateMany({
    where: {
      userId,
      id: jobId,
      status: { in: [...openStatuses] },
      ...(duringAttempt !== undefined && { attempts: duringAttempt }),
    },
    data: {
      status: "failed",
      finishedAt: new Date(),
      errorCode,
      errorMessage,
      ...(attempts !== undefined && { attempts }),
    },
  });
  if (count > 0) log.warn({ jobId, code: errorCode }, "an upload failed");
}
