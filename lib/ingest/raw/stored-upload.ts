import "server-only";
import { prisma } from "#lib/db/client";
import { beginRead } from "#lib/db/heavy";
import { notFound, SpoorError } from "#lib/errors";
import { copyUpload, selectBodySlice, selectSmallUpload } from "#lib/ingest/raw/sql";
import { inflateFrames } from "#lib/ingest/raw/zstd-frames";
import { log } from "#lib/log";
import { streamOf } from "#lib/streams";

type OwnBytes = Uint8Array<ArrayBuffer>;

/**
 * The stored bytes of an upload: its body, or its manifest.
 *
 * @returns null for a manifest that was not made.
 * @throws SpoorError `not_found` if the upload is no longer stored.
 */
export async function readUpload(userId: string, jobId: string, column: "body" | "manifest"): Promise<OwnBytes | null> {
  const bytes = await copyUpload(userId, jobId, column);
  if (bytes === undefined) throw noLongerStored();
  return bytes;
}

/** Body and manifest of a small upload. @throws SpoorError `not_found` if it is no longer stored */
export async function readSmallUpload(
  userId: string,
  jobId: string,
): Promise<{ body: OwnBytes; manifest: OwnBytes | null }> {
  const upload = await selectSmallUpload(userId, jobId);
  if (!upload) throw noLongerStored();
  return upload;
}

const noLongerStored = () => new SpoorError("not_found", "The upload is no longer stored. Send it again.");

/** How much of a stored body one query reads, in bytes. No connection is held between two of them. */
const sliceBytes = 1 << 20;

/**
 * The JSON of an upload as it was sent, inflated while it is read: in constant memory, and without holding a database
 * connection for a slow reader. The stream ends early with an error if the upload is removed meanwhile.
 *
 * It counts as one of the user's exports until the stream has ended.
 *
 * @throws SpoorError `not_found` for an upload that is no longer stored, and for another user's as well; `overloaded` as
 *   `beginRead`
 */
export async function streamUpload(userId: string, jobId: string): Promise<ReadableStream<Uint8Array>> {
  const stored = await prisma().upload.findUnique({
    where: { userId_jobId: { userId, jobId }, removedAt: null },
    select: { jobId: true },
  });
  if (!stored) throw notFound();
  const end = await beginRead(userId, "export");
  const onError = (error: unknown) => log.warn({ err: error, jobId }, "the download of an upload ended early");
  return streamOf(inflateFrames(slices(userId, jobId)), onError, end);
}

async function* slices(userId: string, jobId: string): AsyncGenerator<Buffer> {
  for (let from = 1; ; from += sliceBytes) {
    const slice = await selectBodySlice(userId, jobId, from, sliceBytes);
    if (!slice) throw new Error("the upload was removed while it was read");
    if (slice.byteLength > 0) yield slice;
    if (slice.byteLength < sliceBytes) return;
  }
}
