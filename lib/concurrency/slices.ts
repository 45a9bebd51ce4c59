import { setImmediate } from "node:timers/promises";
import { createContext, Script } from "node:vm";
import { SpoorError } from "#lib/errors";

/** How long a slice of work keeps the process from answering others, and after how long one step of it is ended, in milliseconds. */
const sliceMs = 10;
const longestStepMs = 2000;

/**
 * A step of the work was ended, after `spentMs` milliseconds of the work. `isStarved` where not the step took them: the process was
 * stopped, or the machine gave it no processor.
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

/** What this thread has taken of the processor, in milliseconds; where Node can't tell (before 23.9), the process. */
function processorMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)();
  return (user + system) / 1000;
}

/**
 * Takes the steps of synchronous work on people's texts, in slices of 10 ms between which the process answers whoever waits. A
 * step that takes longer than two seconds is ended, also within a regular expression: no text delays others for longer.
 *
 * @param steps does a piece of the work each time it is asked for the next value. It can't be continued after a failure.
 * @param maxMs how long all steps may take together; others' turns don't count. `stepMs`: how long one may.
 * @returns how long they took, in milliseconds
 * @throws StepEnded, and SpoorError `overloaded` where all steps together take too long
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

/** Runs a function that V8 ends where a step in it takes too long; no `catch` or `finally` in it sees that. @returns undefined then */
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
