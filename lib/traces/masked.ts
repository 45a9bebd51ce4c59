// Exports for others: masked while they are read, a bounded part at a time.

import { eachInSlices, StepEnded } from "#lib/concurrency/slices";
import { findSecrets, type Secret } from "#lib/secrets/find-secrets";
import { maskForOthers, maskValueForOthers, replaceSecrets } from "#lib/secrets/mask";
import { makePlaceholder } from "#lib/secrets/kinds";
import { keepHeader } from "#lib/secrets/table-cells";
import type { Masked } from "#lib/traces/export-schema";
import { type HiddenNames, textForOthers } from "#lib/traces/for-others";

/** Hides in a text what others are not to see. @param names are those of people that are known from what comes before it */
export type Mask = (text: string, names?: Set<string>) => string;

/** What an export hides: nothing, secrets and what may be one, or names of folders, users and machines as well. */
export function makeMask(masked: Masked | undefined, names: HiddenNames): Mask | undefined {
  if (masked === undefined) return undefined;
  return masked === "secrets" ? maskForOthers : hideAll(names);
}

/** Hides secrets, and names of folders, users and machines. */
export const hideAll =
  (hidden: HiddenNames): Mask =>
  (text, names) =>
    textForOthers(text, hidden, names);

/** No secret is longer, with what tells behind it that it is one. */
const overlap = 40 * 1024;
/** So much before a secret may tell that it is one, besides the header of a table: most in the JSON of a key of Google's. */
const maxBefore = 12 * 1024;
/** So much is looked through at once: of that at most a third is read again with what follows. */
const atOnce = 10 * overlap;

/**
 * Masks a text that comes in pieces, as it would be masked in one, but for names of people that only a later folder tells. All is
 * read with what stands beside it, and the time is linear in the text's length, however close its secrets stand.
 *
 * @param mask is called with parts in which all that may be a secret is masked already, for what else it hides.
 */
export async function* maskPieces(pieces: AsyncIterable<string>, mask: Mask): AsyncGenerator<string, undefined> {
  let text = "";
  const names = new Set<string>();
  /** So much of the text was sent, and is held only for what it tells of the rest. */
  let sent = 0;
  for await (const piece of pieces) {
    text += piece;
    if (text.length - sent < atOnce) continue;
    const secrets = findSecrets(text);
    const end = endOfWhole(text, secrets, sent);
    yield mask(withoutSecrets(text, secrets, sent, end), names);
    const from = Math.max(0, end - maxBefore);
    const before = from === 0 ? text.slice(0, end) : keepHeader(text, from, end);
    text = before + text.slice(end);
    sent = before.length;
  }
  yield mask(withoutSecrets(text, findSecrets(text), sent, text.length), names);
}

/** Behind which a text is cut, the best first. */
const signs = ["\n", " ", ",", ";", '"', "'"];

/**
 * Where a text that goes on can be cut: before what may not be whole yet, in no secret, and in no path: at a line's start where one
 * is near, else behind a blank or another sign.
 */
function endOfWhole(text: string, secrets: readonly Secret[], sent: number): number {
  const last = text.length - overlap;
  const ends = signs.map((sign) => text.lastIndexOf(sign, last - 1) + 1);
  const end = ends.find((at) => at > last - overlap) ?? (isInPair(text, last) ? last - 1 : last);
  const around = secrets.find(({ start, end: to }) => start < end && to > end);
  if (!around) return end;
  return around.start > sent ? around.start : around.end;
}

/** Whether a place is within a character of two units of UTF-16. */
const isInPair = (text: string, at: number): boolean => (text.codePointAt(at - 1) ?? 0) > 0xffff;

/** A part of a text, with the secrets in it masked: also one that was not known for one before the text went on. */
function withoutSecrets(text: string, secrets: readonly Secret[], from: number, to: number): string {
  const within = secrets
    .filter(({ start, end }) => start < to && end > from)
    .map((secret) => ({ ...secret, start: Math.max(0, secret.start - from), end: Math.min(to, secret.end) - from }));
  return replaceSecrets(text.slice(from, to), within, (kind) => makePlaceholder(kind));
}

/** Metadata with more characters is left out where it has to be masked: to mask it, all of it has to be read at once. */
const maxJson = 8 * 1024 * 1024;

const omitted = JSON.stringify({ omitted: "too long to be masked" });

/** Masks a value of JSON that comes in pieces; one that takes too long is left out. */
export async function maskJson(pieces: AsyncIterable<string>, mask: Mask): Promise<string> {
  let json = "";
  for await (const piece of pieces) {
    json += piece;
    if (json.length > maxJson) return omitted;
  }
  let masked = omitted;
  const work = (text: string) => {
    masked = JSON.stringify(maskValueForOthers(JSON.parse(text), mask));
  };
  await eachInSlices([json], work).catch((error) => {
    if (!(error instanceof StepEnded)) throw error;
  });
  return masked;
}
