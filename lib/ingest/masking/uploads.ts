import "server-only";
import { Pauses } from "#lib/core/concurrency/pauses";
import { type ErrorCode, isOutage, SpoorError, StoreOutageError } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { transaction } from "#lib/db/client";
import { unpackManifest } from "#lib/ingest/decode/manifest";
import { type Decoder, decodeHere, onThread, smallBytes } from "#lib/ingest/decode/thread-pool";
import { deleteManifest, endUploads, type KeptUpload, readKeptUploads, replaceBody } from "#lib/ingest/masking/sql";
import { removeFailedUploads } from "#lib/ingest/raw/sql";
import { readUpload } from "#lib/ingest/raw/stored-upload";
import type { MaskingPolicy } from "#lib/masking/masker";
import { BrokenSealError, seal } from "#lib/storage/sealed";

const unread = new Pauses();

/**
 * A failed job's upload may be the only copy.
 * @returns whether nothing is left; an upload whose key or store is away is retried
 */
export async function cleanUploads(userId: string, policy: MaskingPolicy, keys: ReadonlySet<string>): Promise<boolean> {
  let isClean = true;
  const pass = { isStoreAway: false };
  for (let after = noId; ; ) {
    const uploads = await transaction((tx) => readKeptUploads(tx, userId, after));
    const { succeeded = [], failed = [] } = Object.groupBy(
      uploads.filter((upload) => (upload.status === "failed" ? !isMaskedBy(upload, policy) : hasAny(upload, keys))),
      ({ status }) => (status === "succeeded" ? "succeeded" : "failed"),
    );
    const ids = succeeded.map(({ jobId }) => jobId);
    await transaction((tx) => endUploads(tx, userId, ids));
    for (const upload of failed) if (!(await cleanFailed(userId, upload, policy, pass))) isClean = false;
    const last = uploads.at(-1);
    if (!last) return isClean;
    after = last.jobId;
  }
}

const noId = "00000000-0000-0000-0000-000000000000";

/** Unreadable manifests count as matches. */
function hasAny({ manifest }: KeptUpload, keys: ReadonlySet<string>): boolean {
  const headers = manifest && readable(() => unpackManifest(manifest))?.headers;
  return !headers || headers.some(({ source, sourceId }) => keys.has(JSON.stringify([source, sourceId])));
}

const isMaskedBy = ({ manifest }: KeptUpload, { stamp }: MaskingPolicy): boolean =>
  manifest !== null && readable(() => unpackManifest(manifest))?.stamp === stamp;

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    log.warn({ err: error }, "the manifest of a kept upload could not be read");
    return undefined;
  }
}

/** Never readable. */
const unreadableCodes = new Set<ErrorCode>(["invalid_json", "invalid_request", "payload_too_large"]);
const removed = "The upload could not be read for masking secrets, so it was removed. Send it again.";

/**
 * An upload that can't be read is ended, since somebody else might read it.
 * @param pass asks a store that is away only once
 */
async function cleanFailed(
  userId: string,
  upload: KeptUpload,
  policy: MaskingPolicy,
  pass: { isStoreAway: boolean },
): Promise<boolean> {
  const { jobId } = upload;
  if (!unread.isOver(jobId) || (upload.isInStore && pass.isStoreAway)) return false;
  try {
    await maskBody(userId, upload, policy);
  } catch (error) {
    const code = error instanceof SpoorError ? error.code : undefined;
    if (code === "not_found") {
      await deleteManifest(userId, jobId); // the body is gone
    } else if ((code && unreadableCodes.has(code)) || error instanceof BrokenSealError) {
      if ((await removeFailedUploads(userId, [jobId], removed)) === 0) return false; // being replayed
      log.warn({ err: error, jobId }, "a failed job's upload could not be read to mask secrets in it, and was removed");
    } else {
      if (!code && isOutage(error)) throw error;
      log.warn({ err: error, jobId }, "a failed job's upload could not be masked; it is retried later");
      unread.begin(jobId);
      pass.isStoreAway ||= error instanceof StoreOutageError;
      return false;
    }
  }
  unread.end(jobId);
  return true;
}

async function maskBody(userId: string, { jobId, bytes }: KeptUpload, policy: MaskingPolicy): Promise<void> {
  const stored = await readUpload(userId, jobId, "body");
  if (!stored) return;
  const mask = (decoder: Decoder) => decoder.call("readAgain", { stored, policy }, [stored.buffer]);
  const read = await (bytes <= smallBytes ? mask(decodeHere()) : onThread(userId, mask));
  const { manifest, isMasked } = read;
  await transaction((tx) =>
    replaceBody(tx, userId, jobId, { manifest, body: isMasked ? seal(read.stored) : undefined }),
  );
}
