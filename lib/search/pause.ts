import { setImmediate } from "node:timers/promises";

/** How long reading texts keeps the process from answering others, in milliseconds. */
const maxBusyMs = 10;

/** A function to call between two pieces of text: it lets others have their turn where the last one was some time ago. */
export function makePause(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < maxBusyMs) return;
    await setImmediate();
    since = performance.now();
  };
}
