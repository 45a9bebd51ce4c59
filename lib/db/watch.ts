import { setTimeout as sleep } from "node:timers/promises";

const lookMs = 500;
/** A server that ends more often than this many times in a minute is not started again. */
const maxEndsPerMinute = 5;

/** What is watched: whether it runs, how it is started again, and what to tell the person who reads the output. */
type Watched = { isRunning: () => Promise<boolean>; start: () => Promise<void>; say: (line: string) => void };

/**
 * Starts a server again whenever it ends. A start that fails (a full disk) is tried again for as long as it takes.
 *
 * @param signal ends the watch.
 * @returns when the watch was ended.
 * @throws where the server ends again and again.
 */
export async function keepRunning({ isRunning, start, say }: Watched, signal: AbortSignal): Promise<void> {
  let ends: number[] = [];
  for (;;) {
    await sleep(lookMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    if (await isRunning()) continue;
    ends = [...ends.filter((at) => at > Date.now() - 60_000), Date.now()];
    if (ends.length > maxEndsPerMinute) throw new Error("The embedded PostgreSQL keeps ending.");
    say("The database ended; starting it again.");
    try {
      await start();
      say("The database runs again.");
    } catch (error) {
      if (!signal.aborted) say((error as Error).message);
    }
  }
}
