import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Keeps V8's space for new objects small: most of a parser's objects die at once, and a larger space doubles the
 * memory.
 */
export function keepNewSpaceSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

let collect: (() => void) | undefined;

/** Runs V8's garbage collector now, in about 10 ms. */
export function collectGarbage(): void {
  if (!collect) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
}
