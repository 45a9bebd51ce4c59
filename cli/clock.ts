import { setTimeout } from "node:timers/promises";

/** The time by which the client retries and asks again; a test puts another one in its place. */
export const clock = {
  /** Milliseconds from some moment on; it never goes back. */
  now: (): number => performance.now(),
  /** @throws where `signal` aborts */
  sleep: async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    await setTimeout(milliseconds, undefined, { signal });
  },
};
