// A posting says that a document has a term. It is one number: the term, and the document's slot in its block.
import { termBits } from "#lib/search/terms";

/** How many documents a block can have. */
export const maxDocuments = 4096;

/** Terms and the slots of their documents, sorted by both: `term * 4096 + slot`, below 2^52. */
export type Postings = Float64Array;

export const makePosting = (term: number, slot: number) => term * maxDocuments + slot;

/** The term of a posting. */
export const termIn = (posting: number) => Math.floor(posting / maxDocuments);

/** Where the postings of a term end that begin at a place. */
export function endOfTerm(sorted: Postings, from: number, term: number): number {
  const next = makePosting(term + 1, 0);
  let end = from + 1;
  while (end < sorted.length && (sorted[end] as number) < next) end += 1;
  return end;
}

/** Postings are partitioned by this many bits of the term before they are sorted: 1.3 to 2 times as fast as one sort. */
const partBits = 12;

/** Sorts postings into a new array. */
export function sort(postings: Postings): Postings {
  const span = 2 ** (termBits - partBits) * maxDocuments;
  // Where the next posting of each part goes, and in the end where the part ends.
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
