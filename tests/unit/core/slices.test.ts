import { expect, test } from "vitest";
import { eachInSlices, inSlices, StepEnded } from "#lib/core/concurrency/slices";
import { SpoorError } from "#lib/core/errors";

/** Keeps the process busy for so many milliseconds. */
function work(ms: number) {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("a step that looks for an end that never comes is ended, and what it caught of that is nothing", async () => {
  const seen: string[] = [];
  function* steps() {
    yield seen.push("begun");
    try {
      yield /^(a+)+$/.test(`${"a".repeat(60)}b`);
    } catch {
      seen.push("caught");
    } finally {
      seen.push("left");
    }
    yield seen.push("gone on");
  }
  const error = await inSlices(steps(), undefined, 100).catch((error) => error);
  expect(error).toBeInstanceOf(StepEnded);
  expect(error).toMatchObject({ code: "overloaded", isStarved: false });
  expect(error.spentMs).toBeGreaterThan(100);
  expect(seen).toEqual(["begun"]);
});

test("a step that was given no time is told from one that takes too much", async () => {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  const steps = [1].values().map(() => Atomics.wait(nothing, 0, 0, 10_000));
  const waiting = inSlices(steps, undefined, 100);
  await expect(waiting).rejects.toMatchObject({ code: "overloaded", isStarved: true });
});

test("between slices others have their turn", async () => {
  let turns = 0;
  const ticking = setInterval(() => {
    turns += 1;
  }, 1);
  let done = 0;
  const spentMs = await eachInSlices(Array.from({ length: 30 }), () => {
    work(4);
    done += 1;
  });
  clearInterval(ticking);
  expect(done).toBe(30);
  expect(turns).toBeGreaterThan(5);
  expect(spentMs).toBeGreaterThanOrEqual(119);
});

test("all steps together may take no longer than they are allowed", async () => {
  let done = 0;
  const working = eachInSlices(
    Array.from({ length: 1000 }),
    () => {
      work(2);
      done += 1;
    },
    50,
  );
  await expect(working).rejects.toThrow(SpoorError);
  expect(done).toBeLessThan(1000);
});

test("a step that throws ends the work with its error", async () => {
  const refusal = new RangeError("no");
  const refuse = () => {
    throw refusal;
  };
  await expect(eachInSlices([1], refuse)).rejects.toBe(refusal);
  expect(await eachInSlices([], refuse)).toBeLessThan(100);
});
