import type { Matches } from "#lib/messages/schema";

export type Match = { place: number; within: number };

export function matchFrom({ places }: Matches, position: number): Match {
  const place = places.findIndex(([at]) => at >= position);
  return { place: Math.max(0, place), within: 0 };
}

/** @param shown matches of the message on the page; the server also counts hidden text */
export function stepMatch({ places }: Matches, match: Match, by: 1 | -1, shown: number): Match {
  const within = match.within + by;
  if (within >= 0 && within < shown) return { place: match.place, within };
  const place = (match.place + by + places.length) % places.length;
  return { place, within: by === 1 ? 0 : Math.max(0, (places[place]?.[1] ?? 1) - 1) };
}

/** The whole query unless something is quoted, then each phrase and word, longest first. */
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

export const suits = ({ total, places }: Matches, at: number | undefined): boolean =>
  total > 0 && (at === undefined || places.some(([position]) => position === at));

/** Counts from 1. */
export function getOrdinal({ places }: Matches, { place, within }: Match): number {
  const before = places.slice(0, place).reduce((sum, [, count]) => sum + count, 0);
  return before + Math.min(within + 1, places[place]?.[1] ?? 1);
}
