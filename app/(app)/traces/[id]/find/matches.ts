import type { Matches } from "#lib/traces/schema";

/** A match: the message's place among those found, and which one within the message, from 0. */
export type Match = { place: number; within: number };

/** The first match at a position or after it, else the first of all. */
export function matchFrom({ places }: Matches, position: number): Match {
  const place = places.findIndex(([at]) => at >= position);
  return { place: Math.max(0, place), within: 0 };
}

/**
 * The match after another, or the one before it, wrapping around at the ends.
 *
 * @param shown how many matches of the message are on the page; the server also counts in text that is not shown.
 */
export function stepMatch({ places }: Matches, match: Match, by: 1 | -1, shown: number): Match {
  const within = match.within + by;
  if (within >= 0 && within < shown) return { place: match.place, within };
  const place = (match.place + by + places.length) % places.length;
  return { place, within: by === 1 ? 0 : Math.max(0, (places[place]?.[1] ?? 1) - 1) };
}

/** What to look for of the list's query: all of it as it was typed, unless something is quoted; then each phrase and word, the longest first. */
export function wordsToFind(query: string): [first: string, ...others: string[]] {
  const found = [...query.matchAll(/["“”]([^"“”]*)["“”]|[^\s"“”]+/gu)];
  const parts = found.map(([whole, phrase]) => (phrase ?? whole).trim()).filter((part) => part !== "");
  const isQuoted = found.some(([, phrase]) => phrase !== undefined);
  const [first = "", ...others] = new Set([
    ...(isQuoted ? [] : [query.trim()]),
    ...parts.toSorted((a, b) => b.length - a.length),
  ]);
  return [first, ...others];
}

/** Whether something was found, at the message that the address names if it names one. */
export const suits = ({ total, places }: Matches, at: number | undefined): boolean =>
  total > 0 && (at === undefined || places.some(([position]) => position === at));

/** Which of all matches one is, from 1. */
export function getOrdinal({ places }: Matches, { place, within }: Match): number {
  const before = places.slice(0, place).reduce((sum, [, count]) => sum + count, 0);
  return before + Math.min(within + 1, places[place]?.[1] ?? 1);
}
