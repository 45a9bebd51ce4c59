import { expect, test } from "vitest";
import { compareMutated, expectFirstErrors, expectTruncationsRefused } from "../../unit/ingest/batches.ts";

/** Runs something that may not take long. */
async function within(milliseconds: number, run: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  await run();
  expect(performance.now() - startedAt).toBeLessThan(milliseconds);
}

test("every truncation is refused at once", () => expectTruncationsRefused((read) => within(1000, read)));

test("of millions of invalid messages only the first errors are reported", () =>
  within(5000, () => expectFirstErrors(200, 20_000)));

test("100,000 mutated batches are read the same trace by trace and whole", { timeout: 120_000 }, async () => {
  expect(await compareMutated(100_000)).toBeGreaterThan(1000);
});
