import { kMaxLength } from "node:buffer";
import { limits } from "#lib/core/limits";
import { inflate, inflateFrame } from "#lib/ingest/decode/inflate";
import { beginsWithMark, parseManifest, type StoredManifest, type TraceHeader } from "#lib/ingest/decode/manifest";

/**
 * Manifest and rows are frames of their own, because rows are compressed while the batch is read. The JSON is Spoor 0.2's.
 * @throws SpoorError `invalid_request` for a corrupt body
 */
export function unpackBatch(stored: Uint8Array): { manifest: StoredManifest; rows: Buffer } | { json: Uint8Array } {
  const { bytes, rest } = inflateFrame(stored);
  if (!beginsWithMark(bytes)) {
    return { json: rest.byteLength === 0 ? bytes : inflate(stored, "zstd", limits.ingest.maxDecodableBytes) };
  }
  const manifest = parseManifest(bytes);
  if (!manifest) throw new Error("a stored batch is of a later version");
  // One buffer of the right size needs no joining, which would take as much memory again.
  const rows = inflate(rest, "zstd", kMaxLength, { expected: Math.max(64, countRowBytes(manifest.headers) + 1) });
  return { manifest, rows: Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength) };
}

const countRowBytes = (headers: readonly TraceHeader[]): number =>
  headers.reduce((end, { at, rowBytes }) => Math.max(end, at + rowBytes), 0);
