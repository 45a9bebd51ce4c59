import { kMaxLength } from "node:buffer";
import { inflate } from "#lib/ingest/decode/inflate";
import { beginsWithMark, parseManifest, type StoredManifest } from "#lib/ingest/decode/manifest";

/**
 * Manifest and rows are frames of their own, because rows are compressed while the batch is read. The JSON is Spoor 0.2's.
 */
export function unpackBatch(stored: Uint8Array): { manifest: StoredManifest; rows: Buffer } | { json: Uint8Array } {
  const expected = Math.min(4 << 20, Math.max(16 << 10, 4 * stored.byteLength));
  const bytes = inflate(stored, "zstd", kMaxLength, { expected });
  if (!beginsWithMark(bytes)) return { json: bytes };
  const batch = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lineEnd = batch.indexOf("\n");
  const manifest = parseManifest(batch.subarray(0, lineEnd));
  if (!manifest) throw new Error("a stored batch is of a later version");
  return { manifest, rows: batch.subarray(lineEnd + 1) };
}
