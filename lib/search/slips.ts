import "server-only";
import type { PoolClient } from "pg";
import { heavyRead } from "#lib/db/heavy";
import { distance } from "#lib/search/distance";
import { parseTerms } from "#lib/search/grammar";
import { largest } from "#lib/search/index/expand";
import { type Matched, matchBlocks } from "#lib/search/index/find-documents";
import { type BlockHead, readBucketRanges } from "#lib/search/index/sql/block-rows";
import { composed, fold } from "#lib/search/index/terms";
import { decodeWords, findLetterBuckets } from "#lib/search/index/vocabulary";
import { parseQuery } from "#lib/search/query";

const max = { documents: 4000, words: 3 };

export const correct = (userId: string, text: string): Promise<string | undefined> =>
  heavyRead(userId, async (tx) => correctIn(tx, userId, text, await matchBlocks(tx, userId, parseQuery(text))));

/** To known words with the same first or second letter that differ in one letter, or two in long words. */
export async function correctIn(
  tx: PoolClient,
  userId: string,
  text: string,
  { heads, units, blocks }: Matched,
): Promise<string | undefined> {
  const missing = units.filter(
    ({ words, beginning }, at) => words === 1 && beginning && blocks.every(({ ofUnits }) => !ofUnits[at]),
  );
  let corrected = composed(text);
  for (const { written, beginning = "" } of missing.slice(0, max.words)) {
    const word = await nearest(tx, userId, largest(heads, max.documents), beginning);
    const term = parseTerms(corrected).find((one) => one.text === written && !one.filter && !one.excluded);
    if (word && term)
      corrected = `${corrected.slice(0, term.at)}${word}${corrected.slice(term.at + term.written.length)}`;
  }
  return corrected === composed(text) ? undefined : corrected;
}

async function nearest(tx: PoolClient, userId: string, heads: BlockHead[], word: string): Promise<string | undefined> {
  const first = [word, word.slice(1)];
  const ranges = heads.flatMap(({ id, bits }) => first.map((start) => ({ id, range: findLetterBuckets(start, bits) })));
  const counts = new Map<string, number>();
  const allowed = word.length < 6 ? 1 : 2;
  for (const postings of await readBucketRanges(tx, userId, ranges))
    for (const known of decodeWords(postings, "", word.length + allowed)) {
      if (known.word.length < word.length - allowed) continue;
      const lower = fold(known.word);
      counts.set(lower, (counts.get(lower) ?? 0) + known.documents);
    }
  const near = [...counts].map(([other, count]) => ({ other, count, apart: distance(word, other, allowed) }));
  const [best] = near.filter(({ apart }) => apart <= allowed).sort((a, b) => a.apart - b.apart || b.count - a.count);
  return best?.other;
}
