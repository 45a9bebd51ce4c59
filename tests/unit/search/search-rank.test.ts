import { expect, test } from "vitest";
import { best } from "#lib/search/index/rank-documents";

/** As a sort of all gives them. */
const sorted = (scores: Float64Array, limit: number) =>
  [...scores.keys()].sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b).slice(0, limit);

test("the best scores are found among thousands of equal ones", () => {
  for (let documents = 5001; documents < 40_000; documents += 1777) {
    // One word: a plain one, one of another form, one of the person, one of a title, both.
    const rarity = Math.log(1 + (documents - 5000 + 0.5) / 5000.5);
    const worths = [1, 0.6, 1.8, 2.2, 3].map((worth) => rarity * worth);
    const scores = Float64Array.from({ length: 5000 }, (_, at) =>
      at % 1013 === 7 ? (worths[at % 5] as number) : (worths[0] as number),
    );
    expect(best(scores, 1200)).toEqual(sorted(scores, 1200));
  }
});

test("few scores, equal ones, zeros and none are all told", () => {
  for (const scores of [[], [0, 0, 0], [1], [0.5, 2, 0.5], [3, 3, 3, 3]]) {
    const given = Float64Array.from(scores);
    for (const limit of [1, 2, 10]) expect(best(given, limit)).toEqual(sorted(given, limit));
  }
});
