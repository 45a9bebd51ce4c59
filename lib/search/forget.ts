// Removes what the index has of some traces whose texts changed for good, without waiting for blocks to be merged.
import "server-only";
import { rewriteBlocks } from "#lib/search/merge";
import { deleteOutdated, findIncompleteBlock, withIndexLock } from "#lib/search/sql/write";

/**
 * Removes what the index has of some traces from before their texts changed, one block a transaction. Those that it has as they are
 * now stay in it; the others are indexed again.
 *
 * @returns false where another process holds the index: to be called again.
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
