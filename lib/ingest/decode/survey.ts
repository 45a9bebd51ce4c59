// Runs in the decoding thread.
import { hash } from "node:crypto";
import type { MessageRows } from "#lib/ingest/decode/message-rows";
import { titleOf } from "#lib/ingest/decode/row-title";
import type { Masker } from "#lib/masking/masker";

/**
 * What takes long to find out of a trace's rows: the title that they give it, their SHA-256 (its bytes as characters), and whether
 * something in them has to be masked.
 */
export type Survey = { derivedTitle: string | null; titleRank: number | null; rowsHash: string; hasSecret: boolean };

/** @param masker that of the trace; without one nothing is looked for. */
export function surveyRows(rows: MessageRows, masker: Masker | undefined): Survey {
  return {
    ...titleOf(rows),
    rowsHash: hash("sha256", rows.bytes.subarray(0, rows.end), "binary"),
    hasSecret: masker !== undefined && hasToMask(rows, masker),
  };
}

function hasToMask(rows: MessageRows, masker: Masker): boolean {
  for (let at = 0; at < rows.end; at = rows.next(at)) {
    if (masker.wouldMask(rows.read(at).content)) return true;
    const { metadata } = rows.parts(at);
    if (metadata && masker.wouldMask(metadata)) return true;
  }
  return false;
}
