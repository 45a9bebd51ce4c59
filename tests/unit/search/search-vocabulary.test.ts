import { expect, test } from "vitest";
import { hashWord } from "#lib/search/index/terms";
import { decodeWords, Vocabulary } from "#lib/search/index/vocabulary";

const add = (vocabulary: Vocabulary, ...words: string[]) => {
  for (const word of words) vocabulary.add(hashWord(word), word, 0, word.length);
};
const readWords = async (vocabulary: Vocabulary) =>
  (await vocabulary.encode(2))
    .flatMap(({ postings }) => decodeWords(postings))
    .toSorted((a, b) => (a.word < b.word ? -1 : 1));

test("of a block whose texts are random letters so many words are remembered, and these are counted", async () => {
  const vocabulary = new Vocabulary(2);
  add(vocabulary, "alder", "birch", "cedar", "alder", "cedar");
  const known = [
    { word: "alder", documents: 2 },
    { word: "birch", documents: 1 },
  ];
  expect(await readWords(vocabulary)).toEqual(known);
  const merged = new Vocabulary(2);
  merged.addAll([...known, { word: "cedar", documents: 1 }]);
  for (const { word, documents } of known) merged.count(hashWord(word), documents);
  merged.count(hashWord("cedar"), 1);
  expect(await readWords(merged)).toEqual(known);
});

test("others have their turn while the words of a block are written", async () => {
  const letters = (n: number) => n.toString(26).replace(/\d/g, (digit) => String.fromCharCode(113 + Number(digit)));
  const vocabulary = new Vocabulary();
  for (let n = 10_000; n < 210_000; n += 1) add(vocabulary, letters(n));
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  });
  const words = await readWords(vocabulary);
  clearInterval(turning);
  expect([words.length, turns > 0]).toEqual([200_000, true]);
});
