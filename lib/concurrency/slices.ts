import { setImmediate } from "node:timers/promises";
import { createContext, Script } from "node:vm";
import { SpoorError } from "#lib/errors";

/** Length of a slice in milliseconds: the process answers nobody meanwhile. */
const sliceMs = 10;
/** Time limit of one step in milliseconds. */
const longestStepMs = 2000;

/**
 * The error of a step that exceeded its time limit. `spentMs` is the duration of the whole work so far, in milliseconds. `isStarved`
 * means that the step is not to blame: the process was stopped, or the machine gave it no processor.
 */
export class StepEnded extends SpoorError {
  readonly spentMs: number;
  readonly isStarved: boolean;

  constructor(spentMs: number, isStarved: boolean) {
    super("overloaded", "A text takes too long to read.");
    this.spentMs = spentMs;
    this.isStarved = isStarved;
  }
}

/** Returns the processor time of this thread in milliseconds; before Node 23.9, which can't tell, that of the process. */
function processorMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)();
  return (user + system) / 1000;
}

/**
 * Runs synchronous work on people's texts in slices of 10 ms, between which the process answers others. A step that exceeds two
 * seconds is ended, even inside a regular expression, so no text delays others for longer. A native call is not: `normalize` and its
 * like need bounded input.
 *
 * @param steps does a piece of the work for each value it is asked for. It can't be continued after a failure.
 * @param maxMs time limit of all steps together, in milliseconds; others' turns don't count.
 * @param stepMs time limit of one step, in milliseconds.
 * @returns the duration of the steps, in milliseconds
 * @throws StepEnded; SpoorError `overloaded` where the steps together exceed their limit
 */
export async function inSlices(
  steps: Iterator<unknown>,
  maxMs = Number.POSITIVE_INFINITY,
  stepMs = longestStepMs,
): Promise<number> {
  for (let spentMs = 0; ; await setImmediate()) {
    const [startedAt, processorAt] = [performance.now(), processorMs()];
    const isDone = withTimeout(sliceMs + stepMs, () => {
      while (!steps.next().done) if (performance.now() - startedAt >= sliceMs) return false;
      return true;
    });
    spentMs += performance.now() - startedAt;
    if (isDone === undefined) throw new StepEnded(spentMs, processorMs() - processorAt < stepMs / 10);
    if (isDone) return spentMs;
    if (spentMs > maxMs) throw new SpoorError("overloaded");
  }
}

/** Does work on each item as a step of `inSlices`. */
export const eachInSlices = <T>(items: Iterable<T>, work: (item: T) => void, maxMs?: number): Promise<number> =>
  inSlices(stepsOf(items, work), maxMs);

function* stepsOf<T>(items: Iterable<T>, work: (item: T) => void): Generator<void> {
  for (const item of items) yield work(item);
}

type Context = { work?: () => void };
let context: Context | undefined;
const script = new Script("work()");

/** Runs a function that V8 ends at the timeout; no `catch` or `finally` inside it sees that. @returns undefined if it was ended */
function withTimeout<T>(timeout: number, work: () => T): T | undefined {
  let result: T | undefined;
  context ??= createContext({}) as Context;
  context.work = () => {
    result = work();
  };
  try {
    script.runInContext(context, { timeout });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  } finally {
    delete context.work;
  }
  return result;
}

const isTimeout = (error: unknown) =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
