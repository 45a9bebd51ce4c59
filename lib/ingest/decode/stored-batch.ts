// Runs in the decoding thread, too: a batch as an upload's body has it. It is a line of text with what the manifest has, and then the
// message rows, each compressed by itself: the rows are compressed while the batch is still read.
import { zstdCompressSync } from "node:zlib";
import { inflate, inflateFrame } from "#lib/ingest/decode/inflate";
import { readManifest, type StoredManifest, type TraceHeader, writeManifest } from "#lib/ingest/decode/manifest";
import { limits } from "#lib/limits";

/** What the line begins with. The body of an upload that Spoor 0.2 stored is the batch's JSON, which never begins so. */
export const mark = "spoor-batch ";

/** @param rows the compressed rows */
export const packBatch = (manifest: StoredManifest, rows: Buffer): Buffer =>
  Buffer.concat([zstdCompressSync(`${mark}${writeManifest(manifest)}\n`), rows]);

/** The batch of a stored body, or the JSON that an earlier version stored. */
export function unpackBatch(stored: Uint8Array): { manifest: StoredManifest; rows: Buffer } | { json: Uint8Array } {
  const { bytes, rest } = inflateFrame(stored);
  if (!beginsWithMark(bytes)) {
    return { json: rest.byteLength === 0 ? bytes : inflate(stored, "zstd", limits.ingest.maxDecodableBytes) };
  }
  const manifest = readManifest(Buffer.from(bytes).toString("utf8", mark.length));
  if (!manifest) throw new Error("a stored batch is of a later version");
  const { bytes: rows } = inflateFrame(rest, Math.max(64, countRowBytes(manifest.headers) + 1));
  return { manifest, rows: Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength) };
}

export const beginsWithMark = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, mark.length)).toString("latin1") === mark;

const countRowBytes = (headers: readonly TraceHeader[]): number =>
  headers.reduce((end, { at, rowBytes }) => Math.max(end, at + rowBytes), 0);
