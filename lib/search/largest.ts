import type { BlockHead } from "#lib/search/sql/read";

/** The largest blocks, until they have so many documents together. */
export function largest(heads: BlockHead[], documents: number): BlockHead[] {
  let sum = 0;
  return heads
    .toSorted((a, b) => b.documents - a.documents)
    .filter((head) => {
      const isWanted = sum < documents;
      sum += head.documents;
      return isWanted;
    });
}
