// Reading a stored picture, where it is, into memory: a bounded number at once.
import "server-only";
import { FairQueue } from "#lib/concurrency/fair-queue";
import { requestSignal } from "#lib/current-request";
import { notFound, SpoorError } from "#lib/errors";
import { limits } from "#lib/limits";
import { findPicture, readSlice, type StoredPicture } from "#lib/pictures/sql";
import { readObject } from "#lib/store/s3";
import { unseal } from "#lib/store/sealed";

const { readsAtOnce, readsPerUser, maxWaitingPerUser } = limits.pictures;

const globals = globalThis as typeof globalThis & { spoorPictureReads?: FairQueue };
const reads = () =>
  (globals.spoorPictureReads ??= new FairQueue(readsAtOnce, { perUser: readsPerUser, kept: readsPerUser }));

/** How much one query reads: the result of one is decoded at once. */
const sliceBytes = 1 << 20;

/** Whose picture is read, of which trace, and which of its messages count. Readers of a share take turns of their own. */
type Wanted = { userId: string; traceId: string; from: number | null; to: number | null; isShared?: boolean };

/**
 * A picture that a user's trace refers to. Its place among those that are read is held until the request is over: a client may
 * take its time with what was sent.
 *
 * @throws SpoorError `not_found` for a picture that is not stored, of another trace or user; `overloaded` where too many wait
 */
export async function readPicture(
  { userId, traceId, isShared, ...span }: Wanted,
  sha256: string,
): Promise<{ mediaType: string; body: Uint8Array<ArrayBuffer> }> {
  const turn = isShared ? `shared ${userId}` : userId;
  if (reads().waitingOf(turn) >= maxWaitingPerUser)
    throw new SpoorError("overloaded", "Too many pictures are being read.", { retryAfterSeconds: 5 });
  const over = requestSignal();
  const giveBack = await reads().take(turn, over);
  over?.addEventListener("abort", giveBack, { once: true });
  if (over?.aborted) giveBack();
  try {
    const picture = await findPicture(userId, traceId, sha256, span);
    if (!picture) throw notFound();
    const stored = await readStored(userId, sha256, picture);
    if (!stored) throw notFound();
    return { mediaType: picture.mediaType, body: unseal(stored) };
  } finally {
    if (!over) giveBack();
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
