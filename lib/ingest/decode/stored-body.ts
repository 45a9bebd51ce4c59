// Manifest and rows are compressed separately, because rows are compressed while the batch is read.

import { limits } from "#lib/core/limits";
import { inflate, inflateFrame } from "#lib/ingest/decode/inflate";
import { beginsWithMark, parseManifest, type StoredManifest } from "#lib/ingest/decode/manifest";

/** The JSON is Spoor 0.2's. */
export function unpackBatch(stored: Uint8Array): { manifest: StoredManifest; rows: Buffer } | { json: Uint8Array } {
  const { bytes, rest } = inflateFrame(stored);
  if (!beginsWithMark(bytes)) {
    return { json: rest.byteLength === 0 ? bytes : inflate(stored, "zstd", limits.ingest.maxDecodableBytes) };
  }
  const manifest = parseManifest(bytes);
  if (!manifest) throw new Error("a stored batch is of a later version");
  const rowBytes = manifest.headers.reduce((end, { at, rowBytes }) => Math.max(end, at + rowBytes), 0);
  const { bytes: rows } = inflateFrame(rest, Math.max(64, rowBytes + 1));
  return { manifest, rows: Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength) };
}
