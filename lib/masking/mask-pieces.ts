import { keepHeader } from "#common/secrets/detectors/table-cells";
import { findSecrets, type Secret } from "#common/secrets/find-secrets";
import { makePlaceholder } from "#common/secrets/kinds";
import { maskForOthers, maskValueForOthers, replaceSecrets } from "#common/secrets/mask";
import { eachInSlices, StepEnded } from "#lib/core/concurrency/slices";
import { type HiddenNames, textForOthers } from "#lib/masking/for-others";

/** `secrets` hides all that may be a secret, `all` also names of home folders, users and machines. */
export type MaskLevel = "secrets" | "all";

/** @param names people known from earlier text */
export type Mask = (text: string, names?: Set<string>) => string;

export function makeMask(masked: MaskLevel | undefined, names: HiddenNames): Mask | undefined {
  if (masked === undefined) return undefined;
  return masked === "secrets" ? maskForOthers : makeHider(names);
}

export const makeHider =
  (hidden: HiddenNames): Mask =>
  (text, names) =>
    textForOthers(text, hidden, names);

/** Longer than any secret and the text that identifies it. */
const overlap = 40 * 1024;
/** This is longer than any text before a secret that identifies it, apart from a table's header. */
const maxBefore = 12 * 1024;
const atOnce = 10 * overlap;

/**
 * Masks a text in pieces as if it were one, except for names that only a later path reveals.
 * @param mask receives parts whose secrets are masked already
 */
export async function* maskPieces(pieces: AsyncIterable<string>, mask: Mask): AsyncGenerator<string, undefined> {
  let text = "";
  const names = new Set<string>();
  let sent = 0;
  for await (const piece of pieces) {
    text += piece;
    if (text.length - sent < atOnce) continue;
    const secrets = findSecrets(text);
    const end = findCut(text, secrets, sent);
    yield mask(withoutSecrets(text, secrets, sent, end), names);
    const from = Math.max(0, end - maxBefore);
    const before = from === 0 ? text.slice(0, end) : keepHeader(text, from, end);
    text = before + text.slice(end);
    sent = before.length;
  }
  yield mask(withoutSecrets(text, findSecrets(text), sent, text.length), names);
}

/** Cut points, best first. */
const signs = ["\n", " ", ",", ";", '"', "'"];

function findCut(text: string, secrets: readonly Secret[], sent: number): number {
  const last = text.length - overlap;
  const ends = signs.map((sign) => text.lastIndexOf(sign, last - 1) + 1);
  const end = ends.find((at) => at > last - overlap) ?? (isInPair(text, last) ? last - 1 : last);
  const around = secrets.find(({ start, end: to }) => start < end && to > end);
  if (!around) return end;
  return around.start > sent ? around.start : around.end;
}

const isInPair = (text: string, at: number): boolean => (text.codePointAt(at - 1) ?? 0) > 0xffff;

function withoutSecrets(text: string, secrets: readonly Secret[], from: number, to: number): string {
  const within = secrets
    .filter(({ start, end }) => start < to && end > from)
    .map((secret) => ({ ...secret, start: Math.max(0, secret.start - from), end: Math.min(to, secret.end) - from }));
  return replaceSecrets(text.slice(from, to), within, (kind) => makePlaceholder(kind));
}

/** Masking needs all of the metadata at once. */
const maxJson = 8 * 1024 * 1024;

const omitted = JSON.stringify({ omitted: "too long to be masked" });

/** Omits a value that takes too long. */
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
