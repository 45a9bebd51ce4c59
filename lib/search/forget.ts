// Removes outdated texts from the index at once, instead of when blocks are merged.
import "server-only";
import { rewriteBlocks } from "#lib/search/merge";
import { deleteOutdated, findIncompleteBlock, withIndexLock } from "#lib/search/sql/write";

/**
 * One block a transaction; traces whose index entry is outdated are indexed again.
 * @returns false if another process holds the index: call again
 */
export async function forgetTerms(userId: string, traceIds: string[]): Promise<boolean> {
  for (;;) {
    const isMore = await withIndexLock(async (tx) => {
      await deleteOutdated(tx, userId, traceIds);
      const block = await findIncompleteBlock(tx, userId);
      if (block) await rewriteBlocks(tx, userId, [block]);
      return block !== undefined;
    });
    if (isMore === undefined) return false;
    if (!isMore) return true;
  }
}
