import { expect, test } from "vitest";
import { findIn, parseUnit, type QueryUnit } from "#lib/search/index/unit";

/** Numbers from 0 up to but without `below`, the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const units = ["timers", "the", "watch", "decided", "tags_re", "TagsRe", "retry", "ab", "aba", "x1"].flatMap(
  (written) => [true, false].flatMap((isExact) => parseUnit(written, isExact) ?? []),
);
const pieces = [
  "timer",
  "timers",
  "TIMER",
  "the",
  "thes",
  "Watching",
  "watched",
  "decide",
  "tags_re",
  "tagsre",
  "TagsRe",
  "xmlTagsRe",
].concat(["retry", "retries", "ab", "aba", "abab", "x1", "x12", " ", " ", "_", ".", "\n", "s", "A"]);

test("in a text of ASCII words are found as their pattern finds them", () => {
  const next = numbers(7);
  const plain = units.filter(({ plain }) => plain);
  expect(plain.map(({ written }) => written)).toEqual(expect.arrayContaining(["timers", "decided", "TagsRe", "aba"]));
  let found = 0;
  for (let n = 0; n < 500; n += 1) {
    const text = Array.from({ length: next(30) }, () => pieces[next(pieces.length)]).join("");
    for (const unit of plain) {
      const { plain: _, ...byPattern } = unit;
      const [ranges] = findIn(text, { units: [unit] }).each;
      expect(ranges, `${unit.written} in ${text}`).toEqual(findIn(text, { units: [byPattern as QueryUnit] }).each[0]);
      found += ranges?.length ?? 0;
    }
  }
  expect(found).toBeGreaterThan(800);
});

test("a text with other characters is searched by the pattern", () => {
  const unit = parseUnit("kelvin", false) as QueryUnit;
  expect(findIn("é kelvin \u212aelvin", { units: [unit] }).ranges).toEqual([
    [2, 8],
    [9, 15],
  ]);
});

test("the ranges of all units are in order and do not overlap", () => {
  const two = [parseUnit("alpha beta", true), parseUnit("beta", true), parseUnit("gamma", true)] as QueryUnit[];
  const { ranges, found, each } = findIn("gamma alpha beta gamma beta", { units: two });
  expect([found, each.map(({ length }) => length)]).toEqual([3, [1, 2, 2]]);
  expect(ranges).toEqual([
    [0, 5],
    [6, 16],
    [17, 22],
    [23, 27],
  ]);
});
