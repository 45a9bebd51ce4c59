import { setTimeout as sleep } from "node:timers/promises";

const againMs = 100;

/**
 * Runs `work`, and once the signal is aborted calls `cancel` until `work` has ended: a cancel that arrives between two
 * statements cancels neither. When this returns no cancel is under way any more, so that none can hit what comes next.
 *
 * @throws the signal's reason where it was aborted
 */
export async function whileWanted<T>(
  signal: AbortSignal,
  cancel: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  let hasEnded = false;
  let cancelling: Promise<void> | undefined;
  const onAbort = () => {
    cancelling = (async () => {
      while (!hasEnded) {
        await cancel();
        if (!hasEnded) await sleep(againMs);
      }
    })();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const result = await work();
    signal.throwIfAborted();
    return result;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    hasEnded = true;
    signal.removeEventListener("abort", onAbort);
    await cancelling;
  }
}
