// While nothing arrives, full blocks are merged once more: a search reads a row of each block for each of its terms, and a million
// messages fill a hundred blocks.
import "server-only";
import { pool } from "#lib/db/client";
import { freeSpace } from "#lib/db/sql/vacuum";
import { log } from "#lib/log";
import { bytesPerPosting } from "#lib/search/block";
import { holdNext } from "#lib/search/hold";
import { type Full, mergeAlike } from "#lib/search/merge";
import { maxDocuments } from "#lib/search/posting";
import { findUserToCompact } from "#lib/search/sql/merge";
import { withIndexLock } from "#lib/search/sql/write";

/** A compacted block has four to eight million postings: some 3,000 sessions. Making one takes about two seconds and 100 MB. */
const compacted: Full = { postings: 2 ** 22, documents: maxDocuments / 2 };
/** So many blocks of about one size become one. */
const least = 4;

/** Ends a merge that may not proceed, and its transaction. */
class Interrupted extends Error {}

/** Whether there are blocks to compact. */
export const hasLooseBlocks = async (): Promise<boolean> =>
  (await findUserToCompact(pool(), { ...compacted, least })) !== undefined;

/**
 * Merges the blocks of one user once, in one transaction. Safe to be killed.
 *
 * @param mayProceed is asked before each 64th part; once it says no, nothing is written.
 * @returns whether something was written, so that there may be more; false too where another process holds the index.
 */
export async function compactNext(mayProceed: () => Promise<boolean> = async () => true): Promise<boolean> {
  if (!(await hasLooseBlocks())) return false; // nearly always, and without a transaction
  const proceed = async () => {
    if (!(await mayProceed())) throw new Interrupted();
  };
  const merging = withIndexLock(async (tx) => {
    const found = await holdNext(tx, (except) => findUserToCompact(tx, { ...compacted, least, except }));
    return found ? mergeAlike(tx, found.userId, { least, full: compacted, proceed }) : 0;
  });
  const merged = await merging.catch((error) => {
    if (error instanceof Interrupted) return 0;
    throw error;
  });
  if (!merged) return false;
  await freeSpace("search_bucket", merged * bytesPerPosting);
  return true;
}

/** Blocks are compacted once nothing was indexed, and nothing interrupted or failed, for so long. */
const calmMs = 30_000;
/** Pause between two looks at a compact index. */
const compactMs = 3_600_000;

/**
 * Compacts while it is calm. `postpone` tells that something was indexed; `next` merges once where there is something to merge, and
 * never throws.
 *
 * @param isCalm is asked before each part of a merge.
 */
export function makeCompaction(isCalm: () => Promise<boolean>): { postpone: () => void; next: () => Promise<void> } {
  let due = performance.now() + calmMs;
  const postpone = () => {
    due = performance.now() + calmMs;
  };
  const next = async () => {
    if (performance.now() < due) return;
    try {
      if (await compactNext(isCalm)) return;
      if (await hasLooseBlocks()) postpone();
      else due = performance.now() + compactMs;
    } catch (error) {
      log.warn({ err: error }, "the index could not be compacted and is tried again");
      postpone();
    }
  };
  return { postpone, next };
}
