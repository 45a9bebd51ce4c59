import { kMaxLength } from "node:buffer";
import { constants, zstdCompressSync } from "node:zlib";
import { limits } from "#lib/core/limits";
import { inflate, inflateFrame } from "#lib/ingest/decode/inflate";
import type { TraceFields } from "#lib/ingest/decode/normalize";

/** Hashes are SHA-256 in Base64. */
export type TraceHeader = TraceFields & {
  derivedTitle: string | null;
  titleRank: number | null;
  sanitized: boolean;
  messageCount: number;
  firstPosition: number | null;
  tokenCount: number;
  lastMessageAt: number | null;
  contentHash: string;
  /** The offset of its rows among those of the batch. */
  at: number;
  rowBytes: number;
  pictures: { position: number; sha256: string }[];
};

export type Manifest = { headers: TraceHeader[]; traces: number; messages: number };

/** `stamp` is the policy by which the batch was masked. */
export type StoredManifest = { headers: TraceHeader[]; stamp: string };

/** A manifest of another version is ignored, and read from the body. */
const version = 7;

/** Spoor 0.2 stored JSON, which never begins so. */
export const mark = "spoor-batch ";

export const beginsWithMark = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, mark.length)).toString("latin1") === mark;

/** An upload's body begins with the same bytes. */
export const packManifest = ({ headers, stamp }: StoredManifest): Buffer =>
  zstdCompressSync(`${mark}${JSON.stringify({ version, stamp, headers })}\n`, {
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  });

export function unpackManifest(packed: Uint8Array): StoredManifest | undefined {
  if (packed[0] === "{".charCodeAt(0)) return undefined;
  const line = inflate(packed, "zstd", limits.ingest.maxDecodableBytes);
  return beginsWithMark(line) ? parseManifest(line) : undefined;
}

export function parseManifest(line: Uint8Array): StoredManifest | undefined {
  const stored = JSON.parse(Buffer.from(line).toString("utf8", mark.length));
  return stored.version === version ? stored : undefined;
}

/**
 * Manifest and rows are separate frames, because rows are compressed while the batch is read. The JSON is Spoor 0.2's.
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
