import "server-only";
import { transaction } from "#lib/db/client";
import { inflate } from "#lib/ingest/decode/inflate";
import { packManifest, unpackHeaders, unpackManifest } from "#lib/ingest/decode/manifest";
import { readMasked, wholeOf } from "#lib/ingest/decode/masked";
import { packBody } from "#lib/ingest/decode/packing";
import { endUploads, type KeptUpload, readKeptUploads, replaceBody } from "#lib/ingest/masking/sql";
import { readUpload } from "#lib/ingest/raw/stored-upload";
import { limits } from "#lib/limits";
import type { Policy } from "#lib/masking/masker";
import { seal } from "#lib/store/sealed";

/**
 * Ends the kept uploads that have traces of these keys, whose bodies have what is masked by now. Each failed job's is masked instead:
 * it is the only copy of what it holds, which may be traces that are not stored yet. Those that wait are masked when they are processed.
 */
export async function cleanUploads(userId: string, policy: Policy, keys: ReadonlySet<string>): Promise<void> {
  for (let after = noId; ; ) {
    const uploads = await transaction((tx) => readKeptUploads(tx, userId, after));
    const { succeeded = [], failed = [] } = Object.groupBy(
      uploads.filter((upload) => (upload.status === "failed" ? !isMaskedBy(upload, policy) : hasAny(upload, keys))),
      ({ status }) => (status === "succeeded" ? "succeeded" : "failed"),
    );
    const ids = succeeded.map(({ jobId }) => jobId);
    await transaction((tx) => endUploads(tx, userId, ids));
    for (const { jobId } of failed) await maskBody(userId, jobId, policy);
    const last = uploads.at(-1);
    if (!last) return;
    after = last.jobId;
  }
}

const noId = "00000000-0000-0000-0000-000000000000";

/** Without a manifest, or one that can't be read, what an upload has is not known. */
function hasAny({ manifest }: KeptUpload, keys: ReadonlySet<string>): boolean {
  const headers = manifest && unpackHeaders(manifest);
  return !headers || headers.some(({ source, sourceId }) => keys.has(JSON.stringify([source, sourceId])));
}

const isMaskedBy = ({ manifest }: KeptUpload, { stamp }: Policy): boolean =>
  manifest !== null && unpackManifest(manifest, stamp) !== undefined;

async function maskBody(userId: string, jobId: string, policy: Policy): Promise<void> {
  const stored = await readUpload(userId, jobId, "body");
  if (!stored) return;
  const decoded = inflate(stored, "zstd", limits.ingest.maxDecodableBytes);
  const { masked, manifest } = readMasked(decoded, policy);
  const body = masked && seal(new Uint8Array(await packBody(wholeOf(decoded, masked))));
  await transaction((tx) => replaceBody(tx, userId, jobId, { body, manifest: packManifest(manifest, policy.stamp) }));
}
