import { expect, test } from "vitest";
import { compareMutated, expectFirstErrors, expectTruncationsRefused } from "../../unit/batches.ts";

/** Runs something that may not take long. */
function within(milliseconds: number, run: () => void): void {
  const startedAt = performance.now();
  run();
  expect(performance.now() - startedAt).toBeLessThan(milliseconds);
}

test("both readings refuse every truncation at once", () => expectTruncationsRefused((read) => within(1000, read)));

test("of millions of invalid messages only the first errors are reported", () =>
  within(5000, () => expectFirstErrors(200, 20_000)));

test("the quick reading of 100,000 mutated batches never differs from the careful one", { timeout: 120_000 }, () => {
  expect(compareMutated(100_000)).toBeGreaterThan(1000);
});
