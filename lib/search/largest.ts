import type { BlockHead } from "#lib/search/sql/read";

const maxBlocks = 4;

/** At most four blocks, since long sessions fill few blocks. */
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
