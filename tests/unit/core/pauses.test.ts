import { afterEach, expect, test, vi } from "vitest";
import { Pauses } from "#lib/core/concurrency/pauses";

afterEach(() => vi.useRealTimers());

test("what failed is left alone, twice as long each time, until it goes well", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const pauses = new Pauses({ firstMs: 10, longestMs: 40 });
  for (const ms of [10, 20, 40, 40]) {
    pauses.begin("a");
    vi.advanceTimersByTime(ms - 1);
    expect([pauses.isOver("a"), pauses.current()]).toEqual([false, ["a"]]);
    vi.advanceTimersByTime(1);
    expect([pauses.isOver("a"), pauses.current()]).toEqual([true, []]);
  }
  pauses.begin("a");
  pauses.end("a");
  expect(pauses.isOver("a")).toBe(true);
});

test("one more than can be known makes the oldest known no longer, and no other", () => {
  const pauses = new Pauses({ maxKeys: 3 });
  for (const key of ["a", "b", "c", "a", "d"]) pauses.begin(key);
  expect(pauses.current()).toEqual(["c", "a", "d"]);
});
