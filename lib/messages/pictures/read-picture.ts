import "server-only";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { requestSignal } from "#lib/core/current-request";
import { notFound, SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { sendAtPace } from "#lib/messages/pictures/send";
import { findPicture, readSlice, type StoredPicture } from "#lib/messages/pictures/sql";
import { readObject } from "#lib/storage/s3";
import { unseal } from "#lib/storage/sealed";

const { readsAtOnce, readsPerUser, maxWaitingPerUser } = limits.pictures;

const reads = oncePerProcess(
  "reads of pictures",
  () => new FairQueue(readsAtOnce, { perUser: readsPerUser, kept: readsPerUser }),
);

/** The whole result of a query is decoded at once. */
const sliceBytes = 1 << 20;

/** `turn` names the queue that the reader waits in. */
type Wanted = { userId: string; traceId: string; from: number | null; to: number | null; turn: string };

type Read = { mediaType: string; body: ReadableStream<Uint8Array> };

/**
 * Its slot is kept until the client has taken it or the request ends; while others wait, a slow client is cut off.
 * @throws SpoorError `not_found`, also for another trace's or user's picture; `overloaded` if too many wait
 */
export async function readPicture({ userId, traceId, turn, ...span }: Wanted, sha256: string): Promise<Read> {
  if (reads.countWaiting(turn) >= maxWaitingPerUser)
    throw new SpoorError("overloaded", "Too many pictures are being read.", { retryAfterSeconds: 5 });
  const over = requestSignal();
  const giveBack = await reads.take(turn, over);
  over?.addEventListener("abort", giveBack, { once: true });
  if (over?.aborted) giveBack();
  try {
    const picture = await findPicture(userId, traceId, sha256, span);
    if (!picture) throw notFound();
    const stored = await readStored(userId, sha256, picture);
    if (!stored) throw notFound();
    const body = sendAtPace(unseal(stored), { isAwaited: () => reads.isAwaited, onEnd: giveBack });
    return { mediaType: picture.mediaType, body };
  } catch (error) {
    giveBack();
    throw error;
  }
}

async function readStored(userId: string, sha256: string, { object, stored }: StoredPicture) {
  if (object) return readObject(userId, object, 0, stored);
  const body = new Uint8Array(stored);
  for (let at = 0; at < stored; at += sliceBytes) {
    const slice = await readSlice(userId, sha256, at + 1, sliceBytes);
    if (!slice) return undefined;
    body.set(slice, at);
  }
  return body;
}
