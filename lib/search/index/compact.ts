// A search reads one row of each block for each term, and a million messages fill a hundred blocks.
import "server-only";
import { log } from "#lib/core/log";
import { pool } from "#lib/db/client";
import { freeSpace } from "#lib/db/sql/vacuum";
import { bytesPerPosting } from "#lib/search/index/block";
import { type Full, mergeAlike } from "#lib/search/index/merge";
import { maxDocuments } from "#lib/search/index/posting";
import { findUserToCompact } from "#lib/search/index/sql/merge";
import { holdNext, withIndexLock } from "#lib/search/index/sql/write";

/** About 3,000 sessions; merging takes two seconds and 100 MB. */
const compacted: Full = { postings: 2 ** 22, documents: maxDocuments / 2 };
const least = 4;

class Interrupted extends Error {}

export const hasLooseBlocks = async (): Promise<boolean> =>
  (await findUserToCompact(pool(), { ...compacted, least })) !== undefined;

/**
 * @param mayProceed asked before each part; false aborts without changes
 * @returns whether more may remain; false also if another process has locked the index
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

const calmMs = 30_000;
const compactMs = 3_600_000;

/**
 * `next` never throws.
 * @param isCalm asked before each part of a merge
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
      log.warn({ err: error }, "the index could not be compacted and is retried");
      postpone();
    }
  };
  return { postpone, next };
}
