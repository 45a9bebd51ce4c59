import "server-only";
import { holdUsers } from "#lib/auth/sql";
import { pool, transaction } from "#lib/db/client";
import { type DueTrace, findDueTraces, replaceUsage, tryUsageLock } from "#lib/usage/sql";

/** What one transaction counts: a few tenths of a second's work. */
const maxMessages = 20_000;
const maxTraces = 500;

/**
 * Counts the usage of traces that changed since they were last counted. The work left is marked in their rows
 * (`usage_due`), so that an interrupted run continues.
 *
 * Uploads don't wait for it: it locks a trace only at the end of its transaction, to clear the mark, and skips one that an
 * upload has locked. A trace that an upload changed meanwhile keeps its mark and is counted again.
 *
 * @param seconds how long to continue; the rest is left to the next call.
 * @param settledSeconds how long a trace must have been unchanged, so that one that grows line by line isn't counted each time.
 * @returns how many traces were counted.
 */
export async function countUsage(seconds: number, settledSeconds = 0): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  let counted = 0;
  while (performance.now() < deadline) {
    const chunk = await countChunk(settledSeconds);
    if (chunk === 0) break;
    counted += chunk;
  }
  return counted;
}

async function countChunk(settledSeconds: number): Promise<number> {
  // Checked without a transaction first: nearly always there is nothing to do.
  if ((await findDueTraces(pool(), settledSeconds, 1)).length === 0) return 0;
  return transaction(async (tx) => {
    if (!(await tryUsageLock(tx))) return 0;
    const chunk = takeChunk(await findDueTraces(tx, settledSeconds, maxTraces));
    // Waiting for a user would be a deadlock with a deletion that waits for the rows written here.
    const users = await holdUsers(tx, [...new Set(chunk.map(({ userId }) => userId))], false);
    let counted = 0;
    for (const [userId, due] of Map.groupBy(chunk, (trace) => trace.userId)) {
      if (!users.has(userId)) continue;
      await replaceUsage(tx, userId, due);
      counted += due.length;
    }
    return counted;
  });
}

/** The first traces with at most `maxMessages` messages together, and at least one trace. */
function takeChunk(due: DueTrace[]): DueTrace[] {
  let messages = 0;
  return due.filter(({ messageCount }, index) => {
    messages += messageCount;
    return index === 0 || messages <= maxMessages;
  });
}
