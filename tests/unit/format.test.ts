import { expect, test } from "vitest";
import { formatNumber } from "../../cli/terminal/format.ts";

test("a number has a comma before each three digits, as British English has it", () => {
  for (const value of [0, 7, 999, 1000, 12_345, 999_999, 1_000_000, 9_007_199_254_740_991, -1234])
    expect(formatNumber(value)).toBe(value.toLocaleString("en-GB"));
});
