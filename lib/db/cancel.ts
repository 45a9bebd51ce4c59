import { setTimeout as sleep } from "node:timers/promises";

const againMs = 100;

/**
 * After an abort, calls `cancel` until `work` has ended, since a cancel between two statements has no effect.
 * @throws the signal's reason
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
