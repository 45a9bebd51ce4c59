import { setImmediate } from "node:timers/promises";
import { createContext, Script } from "node:vm";
import { SpoorError } from "#lib/core/errors";

/** The process answers no requests during a slice. */
const sliceMs = 10;
const longestStepMs = 2000;

/** `isStarved` means that the process got almost no processor time, so the step is not to blame. */
export class StepEnded extends SpoorError {
  readonly spentMs: number;
  readonly isStarved: boolean;

  constructor(spentMs: number, isStarved: boolean) {
    super("overloaded", "A text takes too long to read.");
    this.spentMs = spentMs;
    this.isStarved = isStarved;
  }
}

/** Returns this thread's processor time in milliseconds; before Node 23.9 that of the process. */
function processorMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)();
  return (user + system) / 1000;
}

/**
 * The process answers others between slices. A step that exceeds two seconds is ended, even inside a regular expression, but
 * not inside a native call such as `normalize`.
 * @param maxMs time limit of all steps together; others' turns don't count
 * @returns the duration of the steps in milliseconds
 * @throws StepEnded, or SpoorError `overloaded` if the steps together exceed their limit
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

export const eachInSlices = <T>(items: Iterable<T>, work: (item: T) => void, maxMs?: number): Promise<number> =>
  inSlices(stepsOf(items, work), maxMs);

function* stepsOf<T>(items: Iterable<T>, work: (item: T) => void): Generator<void> {
  for (const item of items) yield work(item);
}

type Context = { work?: () => void };
let context: Context | undefined;
const script = new Script("work()");

/**
 * V8 ends the function at the timeout, past any `catch` or `finally` in it.
 * @returns undefined if it was ended
 */
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
