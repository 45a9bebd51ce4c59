// Exports for others: masked while they are read, a bounded part at a time.

import { findSecrets } from "#lib/secrets/find";
import { changeTexts, maskForOthers } from "#lib/secrets/mask";
import type { Masked } from "#lib/traces/export-schema";
import { textForOthers } from "#lib/traces/for-others";

/** Hides in a text what others are not to see. */
export type Mask = (text: string) => string;

/** What an export hides: nothing, secrets and what may be one, or names of folders, users and machines as well. */
export function maskOf(masked: Masked | undefined, machine: string | null): Mask | undefined {
  if (masked === undefined) return undefined;
  if (masked === "secrets") return maskForOthers;
  return (text) => textForOthers(text, machine ? [machine] : []);
}

/** No secret is longer, with what tells that it is one. */
const overlap = 40 * 1024;
/** So much before a secret may tell that it is one. */
const maxBefore = 600;

/** Masks a text that comes in pieces: no secret stands across two of those that go on. */
export async function* maskPieces(pieces: AsyncIterable<string>, mask: Mask): AsyncGenerator<string, undefined> {
  let held = "";
  for await (const piece of pieces) {
    held += piece;
    const end = endOfWhole(held);
    if (end === 0) continue;
    yield mask(held.slice(0, end));
    held = held.slice(end);
  }
  yield mask(held);
}

/** Where a text that goes on can be cut: before what may not be whole yet, and in no secret; at a line's start where one is near. */
function endOfWhole(text: string): number {
  let end = text.length - overlap;
  if (end <= 0) return 0;
  const line = text.lastIndexOf("\n", end) + 1;
  if (line > end - overlap && line > 0) end = line;
  for (const secret of findSecrets(text).reverse()) {
    if (secret.end + maxBefore <= end) break;
    if (secret.start < end) end = Math.max(0, secret.start - maxBefore);
  }
  return end;
}

/** Metadata with more characters is left out where it has to be masked: to mask it, all of it has to be read at once. */
const maxJson = 8 * 1024 * 1024;

/** Masks a value of JSON that comes in pieces. */
export async function maskJson(pieces: AsyncIterable<string>, mask: Mask): Promise<string> {
  let json = "";
  for await (const piece of pieces) {
    json += piece;
    if (json.length > maxJson) return JSON.stringify({ omitted: "too long to be masked" });
  }
  return JSON.stringify(changeTexts(JSON.parse(json), mask));
}
