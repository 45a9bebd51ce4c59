import { onTestFinished } from "vitest";
import { clock } from "../../cli/server/api.ts";

/**
 * Has the client's waits end at once for the current test, as if their time had passed.
 *
 * @param meanwhile what happens during each wait
 * @returns the waits, in milliseconds
 */
export function quickenClock(meanwhile?: () => Promise<void>): number[] {
  const waits: number[] = [];
  const { now, sleep } = clock;
  let passed = 0;
  clock.now = () => now() + passed;
  clock.sleep = async (milliseconds) => {
    waits.push(milliseconds);
    passed += milliseconds;
    await meanwhile?.();
  };
  onTestFinished(() => void Object.assign(clock, { now, sleep }));
  return waits;
}
