// A posting combines a term with the slot of a document in one number.
import { termBits } from "#lib/search/terms";

/** Per block. */
export const maxDocuments = 4096;

/** Sorted `term * 4096 + slot`, below 2^52. */
export type Postings = Float64Array;

export const makePosting = (term: number, slot: number) => term * maxDocuments + slot;

export const termIn = (posting: number) => Math.floor(posting / maxDocuments);

export function endOfTerm(sorted: Postings, from: number, term: number): number {
  const next = makePosting(term + 1, 0);
  let end = from + 1;
  while (end < sorted.length && (sorted[end] as number) < next) end += 1;
  return end;
}

/** Partitioning before sorting is up to twice as fast. */
const partBits = 12;

export function sort(postings: Postings): Postings {
  const span = 2 ** (termBits - partBits) * maxDocuments;
  // The next index of each part; finally its end.
  const places = new Uint32Array(2 ** partBits + 1);
  const count = (part: number, more: number) => {
    const place = places[part] as number;
    places[part] = place + more;
    return place;
  };
  for (const posting of postings) count(Math.floor(posting / span) + 1, 1);
  for (let part = 1; part < places.length; part += 1) count(part, places[part - 1] as number);
  const sorted = new Float64Array(postings.length);
  for (const posting of postings) sorted[count(Math.floor(posting / span), 1)] = posting;
  let start = 0;
  for (const end of places) {
    if (end > start + 1) sorted.subarray(start, end).sort();
    start = end;
  }
  return sorted;
}
