// The life of a job between its attempts: put back to `queued`, or ended as `failed`.
import "server-only";
import type { z } from "zod";
import { prisma } from "#lib/db/client";
import { isOutage } from "#lib/errors";
import { type ingestPayload, openStatuses } from "#lib/ingest/schema";
import { log } from "#lib/log";

/** What a queue entry names: a job by its owner and id. */
export type JobId = z.output<typeof ingestPayload>;

/** How many attempts a job has before it fails. */
export const maxAttempts = 5;

/**
 * Puts a job back to `queued` after a failed attempt, and ends it after its last. An outage of the database counts as no
 * attempt; if the job cannot even be put back, the next attempt finds it `running` and continues. An attempt that ends after
 * the next one began, because its worker was stopped meanwhile, changes nothing.
 *
 * @param attempts the attempt's number.
 * @returns `ended` if no attempt is left: the queue entry must then be removed, since the job may be replayed.
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

/** Ends a job that has no attempts left, or whose queue entry has none. @param attempts what its count is set to */
export async function giveUp(job: JobId, attempts?: number): Promise<void> {
  await failJob(
    job,
    "processing_failed",
    "The server could not process this upload. The server's log has the reason.",
    { attempts },
  );
}

/**
 * Ends an open job as `failed`. Its upload stays: the client was promised that it is stored.
 *
 * @param more.duringAttempt the attempt that ends it: the job stays as it is if another has begun since.
 * @param more.attempts what its count of attempts is set to.
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
