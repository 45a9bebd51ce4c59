import { describe, expect, test } from "vitest";
import { encode } from "#lib/search/index/block";
import { makePosting, maxDocuments } from "#lib/search/index/posting";
import { expectBounded, expectGivenBack, expectRisingOrNone, isSame, odd, read, terms } from "./search-layouts.ts";

// With more rounds, and measured, in tests/long/unit/search-layout.test.ts.
describe("the layout of a row", () => {
  test("gives back whatever postings were put into it, in rows of any size", () => expectGivenBack(25));

  test.each<[string, number[]]>([
    ["nothing", []],
    ["the first term and the first slot", [0]],
    ["the last term and the last slot", [terms * maxDocuments - 1]],
    ["the first and the last term", [0, makePosting(terms - 1, 0)]],
    ["many near each other before one far away", [...Array(500).keys(), makePosting(terms - 1, 7)]],
    ["all documents of neighbouring terms", [...Array(20 * maxDocuments).keys()]],
    ["every second document", Array.from({ length: 2048 }, (_, n) => makePosting(77, 2 * n + 1))],
    ["the first and the last document", [makePosting(5, 0), makePosting(5, 4095)]],
  ])("keeps %s", (_, postings) => {
    for (let bits = 0; bits <= 13; bits += 1)
      expect(isSame(read(encode(Float64Array.from(postings), bits), bits), postings)).toBe(true);
  });

  test("reads rising postings of the row's own terms, or none, from whatever bytes it is given", () =>
    expectRisingOrNone(100));

  test.each(odd)("reads any number of bytes of %s", (_, bytes) => {
    for (const size of [0, 1, 2, 3, 4, 5, 100, 2 ** 14]) expectBounded(bytes(size));
  });
});
