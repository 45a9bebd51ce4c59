import "server-only";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { requestSignal } from "#lib/core/current-request";
import { notFound, SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { findPicture, readSlice, type StoredPicture } from "#lib/messages/pictures/sql";
import { readObject } from "#lib/storage/s3";
import { unseal } from "#lib/storage/sealed";

const { readsAtOnce, readsPerUser, maxWaitingPerUser } = limits.pictures;

const reads = oncePerProcess(
  "reads of pictures",
  () => new FairQueue(readsAtOnce, { perUser: readsPerUser, kept: readsPerUser }),
);

/** The whole result of a query is decoded at once. */
const storedSliceBytes = 1 << 20;

/** `turn` names the queue that the reader waits in. */
type PictureRequest = { userId: string; traceId: string; from: number | null; to: number | null; turn: string };

type Read = { mediaType: string; body: ReadableStream<Uint8Array> };

/**
 * Its slot is kept until the client has taken it or the request ends; while others wait, a slow client is cut off.
 * @throws SpoorError `not_found`, also for another trace's or user's picture; `overloaded` if too many wait
 */
export async function readPicture({ userId, traceId, turn, ...span }: PictureRequest, sha256: string): Promise<Read> {
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
  for (let at = 0; at < stored; at += storedSliceBytes) {
    const slice = await readSlice(userId, sha256, at + 1, storedSliceBytes);
    if (!slice) return undefined;
    body.set(slice, at);
  }
  return body;
}

const { sendSeconds, sendBytesPerSecond } = limits.pictures;

/** Small pieces show how fast the client reads. */
const sentSliceBytes = 64 * 1024;

type Sending = {
  isAwaited: () => boolean;
  /** Called once everything was taken, the client is gone, or it was too slow. */
  onEnd: () => void;
  seconds?: number;
};

/** Sends bytes as a response body that ends early if others wait and the client reads too slowly. */
export function sendAtPace(
  bytes: Uint8Array<ArrayBuffer>,
  { isAwaited, onEnd, seconds = sendSeconds }: Sending,
): ReadableStream<Uint8Array> {
  let at = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    clearInterval(timer);
    onEnd();
  };
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      let before = 0;
      timer = setInterval(() => {
        // Buffers on the way take the first megabytes at once, so the first interval does not count.
        const isSlow = at - before < seconds * sendBytesPerSecond;
        before = at;
        if (!isSlow || !isAwaited()) return;
        end();
        controller.error(new DOMException("The client reads too slowly.", "AbortError"));
      }, seconds * 1000).unref();
    },
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at + sentSliceBytes));
      at += sentSliceBytes;
      if (at < bytes.byteLength) return;
      end();
      controller.close();
    },
    cancel: end,
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}
