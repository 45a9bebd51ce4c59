import { describe, expect, test } from "vitest";
import { expectBounded, expectGivenBack, expectRisingOrNone, odd } from "../../unit/search/search-layouts.ts";

describe("the layout of a row", { timeout: 120_000 }, () => {
  test("gives back whatever postings were put into it, in rows of any size", () => expectGivenBack(200));

  test("reads rising postings of the row's own terms, or none, from whatever bytes it is given", () =>
    expectRisingOrNone(1000));

  test.each(odd)("reads a megabyte of %s at once", (_, bytes) => {
    const startedAt = performance.now();
    expectBounded(bytes(2 ** 20));
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});
