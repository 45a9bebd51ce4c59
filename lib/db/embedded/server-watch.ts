import { setTimeout as sleep } from "node:timers/promises";
import { EnvError } from "#lib/core/errors";

const checkMs = 500;
const maxEndsPerMinute = 5;

type Watched = { isRunning: () => Promise<boolean>; start: () => Promise<unknown>; say: (line: string) => void };

/** Restarts a server whenever it ends. @throws if it keeps ending */
export async function keepRunning(
  { isRunning, start, say }: Watched,
  signal: AbortSignal,
  pauseMs = checkMs,
): Promise<void> {
  let ends: number[] = [];
  for (;;) {
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    if (await isRunning()) continue;
    ends = [...ends.filter((at) => at > performance.now() - 60_000), performance.now()];
    if (ends.length > maxEndsPerMinute)
      throw new EnvError(
        `The embedded PostgreSQL ended more than ${maxEndsPerMinute} times within a minute. Spoor shuts down.`,
      );
    say("The database stopped; restarting it.");
    try {
      await start();
      say("The database is running again.");
    } catch (error) {
      if (!signal.aborted) say((error as Error).message);
    }
  }
}
