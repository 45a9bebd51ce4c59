import { setTimeout } from "node:timers/promises";

/** The client's clock, which tests replace. */
export const clock = {
  /** Monotonic milliseconds. */
  now: (): number => performance.now(),
  /** @throws if `signal` aborts */
  sleep: async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    await setTimeout(milliseconds, undefined, { signal });
  },
};
