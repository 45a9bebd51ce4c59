import "server-only";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { requestSignal } from "#lib/core/current-request";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { readObject } from "#lib/storage/s3";

const { readsAtOnce, readsPerUser, maxWaitingPerUser } = limits.pictures;

const reads = oncePerProcess(
  "reads of stored bodies",
  () => new FairQueue(readsAtOnce, { perUser: readsPerUser, kept: readsPerUser }),
);

type OwnBytes = Uint8Array<ArrayBuffer>;

/**
 * Reads a body and sends it. Its slot is kept until the client has taken it or the request ends; while others wait, a slow
 * client is cut off.
 *
 * @param turn names the queue that the reader waits in
 * @throws SpoorError `overloaded` if too many wait; what `read` throws
 */
export async function sendInTurn<T extends { stored: OwnBytes }>(
  turn: string,
  read: () => Promise<T>,
): Promise<Omit<T, "stored"> & { body: ReadableStream<Uint8Array> }> {
  if (reads.countWaiting(turn) >= maxWaitingPerUser)
    throw new SpoorError("overloaded", "Too many pictures or copies are being read.", { retryAfterSeconds: 5 });
  const over = requestSignal();
  const giveBack = await reads.take(turn, over);
  over?.addEventListener("abort", giveBack, { once: true });
  if (over?.aborted) giveBack();
  try {
    const { stored, ...about } = await read();
    return { ...about, body: sendAtPace(stored, { isAwaited: () => reads.isAwaited, onEnd: giveBack }) };
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** The whole result of a query is decoded at once. */
const sliceBytes = 1 << 20;

/** @param readSlice reads from the database, counting from 1 @returns undefined if it is gone */
export async function readStored(
  userId: string,
  { object, bytes }: { object: string | null; bytes: number },
  readSlice: (from: number, bytes: number) => Promise<Buffer | undefined>,
): Promise<OwnBytes | undefined> {
  if (object) return readObject(userId, object, 0, bytes);
  const body = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += sliceBytes) {
    const slice = await readSlice(at + 1, sliceBytes);
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
