import "server-only";
import { Pauses } from "#lib/concurrency/pauses";
import { transaction } from "#lib/db/client";
import { type ErrorCode, isOutage, SpoorError, StoreOutageError } from "#lib/errors";
import { unpackManifest } from "#lib/ingest/decode/manifest";
import { type Decoder, decodeHere, onThread, smallBytes } from "#lib/ingest/decode/thread-pool";
import { deleteManifest, endUploads, type KeptUpload, readKeptUploads, replaceBody } from "#lib/ingest/masking/sql";
import { removeFailedUploads } from "#lib/ingest/raw/sql";
import { readUpload } from "#lib/ingest/raw/stored-upload";
import { log } from "#lib/log";
import type { MaskingPolicy } from "#lib/masking/masker";
import { BrokenSealError, seal } from "#lib/store/sealed";

/** Uploads whose bodies could not be read for now. */
const unread = new Pauses();

/**
 * Ends the kept uploads that have traces of these keys, whose bodies have what is masked by now. Each failed job's is masked instead:
 * it is the only copy of what it holds, which may be traces that are not stored yet. Those that wait are masked when they are processed.
 *
 * @returns whether none is left that has still to be masked: one whose key, or store, is away is tried again by later calls.
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

/** Without a manifest, or one that can't be read, what an upload has is not known. */
function hasAny({ manifest }: KeptUpload, keys: ReadonlySet<string>): boolean {
  const headers = manifest && readable(() => unpackManifest(manifest))?.headers;
  return !headers || headers.some(({ source, sourceId }) => keys.has(JSON.stringify([source, sourceId])));
}

const isMaskedBy = ({ manifest }: KeptUpload, { stamp }: MaskingPolicy): boolean =>
  manifest !== null && readable(() => unpackManifest(manifest))?.stamp === stamp;

/** What `read` returns; undefined where its bytes are corrupt. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    log.warn({ err: error }, "the manifest of a kept upload could not be read");
    return undefined;
  }
}

/** Codes of a batch that will never be read: its body is corrupt, or no batch by the rules of this version. */
const unreadableCodes = new Set<ErrorCode>(["invalid_json", "invalid_request", "payload_too_large"]);
const removed = "The upload could not be read to mask secrets in it, and was removed. Send it again.";

/**
 * Masks a failed job's upload, or ends one that can't be read: whoever can read it otherwise would find there what its owner was told
 * is masked, and a replay would fail.
 *
 * @param pass a store that is away is asked once a pass: each call may take seconds.
 * @returns whether nothing unmasked is left of it.
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
      await deleteManifest(userId, jobId); // of the body nothing is left
    } else if ((code && unreadableCodes.has(code)) || error instanceof BrokenSealError) {
      if ((await removeFailedUploads(userId, [jobId], removed)) === 0) return false; // it is replayed at this moment
      log.warn({ err: error, jobId }, "a failed job's upload could not be read to mask secrets in it, and was removed");
    } else {
      if (!code && isOutage(error)) throw error;
      log.warn({ err: error, jobId }, "a failed job's upload could not be masked; it is tried again later");
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
