// Runs in the decoding thread, too: what is known of a batch without its messages, as it is stored with its upload.
import { constants, zstdCompressSync } from "node:zlib";
import { inflate } from "#lib/ingest/decode/inflate";
import type { TraceFields } from "#lib/ingest/decode/normalize";
import { limits } from "#lib/limits";

/** A trace without its messages, as a job compares it with what is stored. Hashes are SHA-256 in Base64. */
export type TraceHeader = TraceFields & {
  derivedTitle: string | null;
  titleRank: number | null;
  sanitized: boolean;
  messageCount: number;
  /** The position of its first message; null without one. */
  firstPosition: number | null;
  tokenCount: number;
  lastMessageAt: number | null;
  contentHash: string;
  /** Where its message rows begin among those of the batch, and their size, in bytes. */
  at: number;
  rowBytes: number;
  /** The pictures that its messages refer to. */
  pictures: { position: number; sha256: string }[];
};

/** A batch's traces (the last one of each key), and how many traces and messages it has. */
export type Manifest = { headers: TraceHeader[]; traces: number; messages: number };

/** What is stored of a manifest; `stamp` is the policy by which the batch was masked. */
export type StoredManifest = { headers: TraceHeader[]; stamp: string };

/** The version of the stored form. What has another one is read anew from the upload's body. */
const version = 7;

/** The beginning of each manifest. What Spoor 0.2 stored, manifests and batches, is JSON, which never begins so. */
export const mark = "spoor-batch ";

export const beginsWithMark = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, mark.length)).toString("latin1") === mark;

/** A manifest as it is stored: one line of text, compressed. An upload's body begins with the same bytes. */
export const packManifest = ({ headers, stamp }: StoredManifest): Buffer =>
  zstdCompressSync(`${mark}${JSON.stringify({ version, stamp, headers })}\n`, {
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  });

/** @returns undefined for a manifest of another version */
export function unpackManifest(packed: Uint8Array): StoredManifest | undefined {
  if (packed[0] === "{".charCodeAt(0)) return undefined; // 0.2 left small ones uncompressed
  const line = inflate(packed, "zstd", limits.ingest.maxDecodableBytes);
  return beginsWithMark(line) ? parseManifest(line) : undefined;
}

/** Parses the line. @returns undefined for a manifest of another version */
export function parseManifest(line: Uint8Array): StoredManifest | undefined {
  const stored = JSON.parse(Buffer.from(line).toString("utf8", mark.length));
  return stored.version === version ? stored : undefined;
}
