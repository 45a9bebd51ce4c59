import { limits } from "#lib/core/limits";
import type { MessageRows } from "#lib/ingest/decode/message-rows";
import { readReferences } from "#lib/transcript/pictures";

const field = '"pictures"';

export function picturesIn(rows: MessageRows): { position: number; sha256: string }[] {
  const found: { position: number; sha256: string }[] = [];
  // Few sessions have any, and one search of all bytes is cheaper than one per row.
  if (!rows.bytes.subarray(0, rows.end).includes(field)) return found;
  for (let at = 0; at < rows.end && found.length < limits.pictures.perTrace; at = rows.next(at)) {
    const { metadata } = rows.parts(at);
    if (!metadata?.includes(field)) continue;
    const hashes = new Set(readReferences(JSON.parse(metadata.toString("utf8"))).map(({ sha256 }) => sha256));
    const { position } = rows.read(at);
    found.push(...[...hashes].map((sha256) => ({ position, sha256 })));
  }
  return found.slice(0, limits.pictures.perTrace);
}
