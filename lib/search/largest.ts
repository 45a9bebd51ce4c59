import type { BlockHead } from "#lib/search/sql/read";

const maxBlocks = 4;

/** The largest blocks, until they have so many documents together: at most four, since of long sessions few fill one. */
export function largest(heads: BlockHead[], documents: number): BlockHead[] {
  let sum = 0;
  return heads
    .toSorted((a, b) => b.documents - a.documents)
    .slice(0, maxBlocks)
    .filter((head) => {
      const isWanted = sum < documents;
      sum += head.documents;
      return isWanted;
    });
}
