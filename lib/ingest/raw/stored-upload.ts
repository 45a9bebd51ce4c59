import "server-only";
import { notFound, SpoorError } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { beginRead } from "#lib/db/heavy";
import { streamChunks } from "#lib/http/send-stream";
import { convertToJson } from "#lib/ingest/decode/as-json";
import { type BodyPlace, copyUpload, selectBodySlice, selectPlace, selectSmallUpload } from "#lib/ingest/raw/sql";
import { inflateFrames } from "#lib/ingest/raw/zstd-frames";
import { readObject } from "#lib/storage/s3";
import { unseal, unsealParts } from "#lib/storage/sealed";

type OwnBytes = Uint8Array<ArrayBuffer>;

/** @returns null without a manifest @throws SpoorError `not_found` if the upload is no longer stored */
export async function readUpload(userId: string, jobId: string, column: "body" | "manifest"): Promise<OwnBytes | null> {
  const bytes = await copyUpload(userId, jobId, column);
  if (bytes === undefined) throw noLongerStored();
  if (bytes === null && column === "body") return readPlaced(userId, await selectPlace(userId, jobId));
  return bytes && column === "body" ? unseal(bytes) : bytes;
}

/** @throws SpoorError `not_found`; StoreOutageError */
async function readPlaced(userId: string, place: BodyPlace | undefined): Promise<OwnBytes> {
  if (!place?.object || !place.bytes) throw noLongerStored();
  const body = await readObject(userId, place.object, 0, place.bytes);
  if (!body) throw noLongerStored();
  return unseal(body);
}

export async function readSmallUpload(
  userId: string,
  jobId: string,
): Promise<{ body: OwnBytes; manifest: OwnBytes | null }> {
  const upload = await selectSmallUpload(userId, jobId);
  if (!upload) throw noLongerStored();
  return { manifest: upload.manifest, body: upload.body ? unseal(upload.body) : await readPlaced(userId, upload) };
}

const noLongerStored = () => new SpoorError("not_found", "The upload is no longer stored. Send it again.");

/** No connection is used between two slices. */
const sliceBytes = { database: 1 << 20, store: 4 << 20 };

/**
 * A slow reader occupies neither memory for the upload nor a database connection. It counts as one of the user's
 * exports.
 * @throws SpoorError `not_found`; `overloaded` as `beginRead`
 */
export async function streamUpload(userId: string, jobId: string): Promise<ReadableStream<Uint8Array>> {
  const place = await selectPlace(userId, jobId);
  if (!place) throw notFound();
  const { object, bytes } = place;
  const end = await beginRead(userId, "export");
  const parts = object && bytes ? slicesOfObject(userId, object, bytes) : slices(userId, jobId);
  const onError = (error: unknown) => log.warn({ err: error, jobId }, "the download of an upload ended early");
  return streamChunks(convertToJson(inflateFrames(unsealParts(parts))), onError, end);
}

async function* slicesOfObject(userId: string, object: string, bytes: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes; from += sliceBytes.store) {
    const slice = await readObject(userId, object, from, Math.min(sliceBytes.store, bytes - from));
    if (!slice) throw new Error("the upload was removed while it was read");
    yield slice;
  }
}

async function* slices(userId: string, jobId: string): AsyncGenerator<Buffer> {
  for (let from = 1; ; from += sliceBytes.database) {
    const slice = await selectBodySlice(userId, jobId, from, sliceBytes.database);
    if (!slice) throw new Error("the upload was removed while it was read");
    if (slice.byteLength > 0) yield slice;
    if (slice.byteLength < sliceBytes.database) return;
  }
}
