// Removes the terms of deleted traces from the index. A tombstone is marked `search_pending` until none is left.
import "server-only";
import { pool } from "#lib/db/client";
import { holdNext } from "#lib/search/hold";
import { rewriteBlocks } from "#lib/search/merge";
import {
  deleteDocuments,
  findIncompleteBlock,
  findUserToPurge,
  markPurged,
  readTombstones,
  withIndexLock,
} from "#lib/search/sql/write";

/** How many tombstones one transaction handles. */
const maxTraces = 5000;

/**
 * Removes terms of deleted traces from the index: of one user, in one transaction, with at most one block rewritten. The
 * rows record what is left to do, so that an interrupted purge is resumed.
 *
 * Every block is rewritten that lacks some of its documents. That includes the blocks in which a deleted trace left postings
 * when it was indexed again, which nothing else records.
 *
 * @returns whether something was done, so that there may be more; false too where another process holds the index.
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
