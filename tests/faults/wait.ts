import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

/**
 * Asks until there is an answer.
 *
 * @param what is awaited, for the message of the error.
 * @throws after so many seconds.
 */
export async function until<T>(
  seconds: number,
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > deadline) throw new Error(`Not within ${seconds} s: ${what}`);
    await sleep(40);
  }
}

/** Repeats work until it throws no more. @throws what it threw last, after so many seconds */
export async function untilPassed(seconds: number, work: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(40);
    }
  }
}

/** Counts the traces that are not searchable yet. */
export async function countUnindexed(db: pg.Pool): Promise<number> {
  const { rowCount } = await db.query("select 1 from trace where search_pending");
  return rowCount ?? 0;
}

/** Waits until every trace is searchable. */
export async function waitForIndex(db: pg.Pool): Promise<void> {
  await until(60, "everything is searchable", async () => (await countUnindexed(db)) === 0);
}

/** Runs work, and tells how many milliseconds it took. */
export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAt = performance.now();
  const result = await work();
  return { result, ms: performance.now() - startedAt };
}

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
