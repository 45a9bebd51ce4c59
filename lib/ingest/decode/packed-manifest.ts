// Runs in the decoding thread: a manifest as it is stored with its upload.
import { constants, zstdCompressSync } from "node:zlib";
import { inflate } from "#lib/ingest/decode/inflate";
import type { Manifest, TraceHeader } from "#lib/ingest/decode/manifest";
import { limits } from "#lib/limits";

/** The version of the stored form; a manifest of another version is made again from the upload. */
const version = 5;

/** Up to this size a manifest is stored uncompressed: creating a compressor takes longer than it saves. */
const plainBytes = 2048;

/** A manifest as it is stored with its upload: JSON, compressed with zstd if it is large. @param stamp the policy of its masking */
export function packManifest({ headers }: Manifest, stamp = ""): Buffer {
  const json = Buffer.from(JSON.stringify({ version, stamp, headers }));
  if (json.byteLength <= plainBytes) return json;
  return zstdCompressSync(json, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/** The traces of a stored manifest, or undefined if it has another version, or was made under another policy of masking. */
export function unpackManifest(packed: Uint8Array, stamp = ""): TraceHeader[] | undefined {
  const stored = unpack(packed);
  return stored.stamp === stamp ? stored.headers : undefined;
}

/** The policy that a stored manifest was made under; undefined if it has another version. */
export const stampOf = (packed: Uint8Array): string | undefined => unpack(packed).stamp;

/** As `unpackManifest`, whatever the policy was. */
export const unpackHeaders = (packed: Uint8Array): TraceHeader[] | undefined => unpack(packed).headers;

function unpack(packed: Uint8Array): { stamp?: string; headers?: TraceHeader[] } {
  const isPlain = packed[0] === "{".charCodeAt(0);
  const json = isPlain ? packed : inflate(packed, "zstd", limits.ingest.maxDecodableBytes);
  const stored = JSON.parse(Buffer.from(json).toString("utf8"));
  return stored.version === version ? stored : {};
}
