import { expect, test } from "vitest";
import { KeywordSearch } from "#common/secrets/keywords";

test("words are found wherever they stand, in texts and pieces of any length", () => {
  const words = ["key-", "key-of-the-house", "ab", "the-house-of", "Q~"];
  const keywords = new KeywordSearch(words);
  for (const length of [0, 3, 99, 100, 101, 150, 64 * 1024 - 1, 64 * 1024 + 20, 128 * 1024 + 37]) {
    const text = "-a key-of-the-house-of abkey-q~ ".repeat(Math.ceil(length / 32)).slice(0, length);
    const lower = text.toLowerCase();
    const expected = words.flatMap((word, index) => {
      const places: string[] = [];
      for (let at = lower.indexOf(word.toLowerCase()); at >= 0; at = lower.indexOf(word.toLowerCase(), at + 1))
        places.push(`${at + word.length} ${index}`);
      return places;
    });
    const found: string[] = [];
    const ends: number[] = [];
    keywords.find(text, (word, end) => {
      found.push(`${end} ${word}`);
      ends.push(end);
    });
    expect(ends.every((end, at) => at === 0 || end >= (ends[at - 1] as number))).toBe(true);
    expect(found.sort()).toEqual(expected.sort());
  }
});

test("words are missed in a text and over its ends alike", () => {
  const keywords = new KeywordSearch(["key-", '"ab', 'cd":']);
  const areMissing = (text: string) => keywords.areMissing('"', text, '":"');
  expect(["", "b", "cab", "cdx", "key", "日本"].filter((text) => !areMissing(text))).toEqual([]);
  expect(["ab", "AB-", "x cd", "monKEY-s"].filter(areMissing)).toEqual([]);
});
