// The closing line of a CI run: how many tests passed, failed and were skipped.
import { readFileSync } from "node:fs";

const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
  readFileSync("test-results/vitest.json", "utf8"),
);
console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
