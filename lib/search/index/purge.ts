import "server-only";
import { pool } from "#lib/db/client";
import { rewriteBlocks } from "#lib/search/index/merge";
import {
  deleteDocuments,
  deleteOutdated,
  findIncompleteBlock,
  findUserToPurge,
  holdNext,
  markPurged,
  readTombstones,
  withIndexLock,
} from "#lib/search/index/sql/write";

const maxTraces = 5000;

/**
 * Rewrites at most one block, also one with documents missing after re-indexing.
 * @returns whether more may remain; false also if another process has locked the index
 */
export async function purgeNext(): Promise<boolean> {
  if (!(await findUserToPurge(pool()))) return false; // nearly always, and without a transaction
  const isDone = await withIndexLock(async (tx) => {
    const found = await holdNext(tx, (except) => findUserToPurge(tx, except));
    if (!found) return false;
    const { userId } = found;
    const traceIds = await readTombstones(tx, userId, maxTraces);
    await deleteDocuments(tx, userId, traceIds);
    const block = await findIncompleteBlock(tx, userId);
    if (block) await rewriteBlocks(tx, userId, [block]);
    else await markPurged(tx, userId, traceIds);
    return true;
  });
  return isDone ?? false;
}

/** @returns false if another process has locked the index: call again */
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
