// Removes what the index has of some traces whose texts changed for good, without waiting for blocks to be merged.
import "server-only";
import { rewriteBlocks } from "#lib/search/merge";
import { deleteDocuments, findIncompleteBlock, withIndexLock } from "#lib/search/sql/write";

/**
 * Removes all terms of some traces from the index, one block a transaction; they are indexed again as they are by then.
 *
 * @returns false where another process holds the index: to be called again.
 */
export async function forgetTerms(userId: string, traceIds: string[]): Promise<boolean> {
  for (;;) {
    const isMore = await withIndexLock(async (tx) => {
      await deleteDocuments(tx, userId, traceIds);
      const block = await findIncompleteBlock(tx, userId);
      if (block) await rewriteBlocks(tx, userId, [block]);
      return block !== undefined;
    });
    if (isMore === undefined) return false;
    if (!isMore) return true;
  }
}
