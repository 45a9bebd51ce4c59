import "server-only";
import type { PoolClient } from "pg";
import { type BlockHead, readBlockHeads, readBucketRanges, readBuckets } from "#lib/search/index/sql/block-rows";
import { fold, hashWord, inField } from "#lib/search/index/terms";
import type { QueryUnit } from "#lib/search/index/unit";
import { decodeWords, findBucket, findLetterBuckets } from "#lib/search/index/vocabulary";

const maxBlocks = 4;

/** At most four blocks, since long sessions fill few blocks. */
export function largest(heads: BlockHead[], documents: number): BlockHead[] {
  let sum = 0;
  return heads
    .toSorted((a, b) => b.documents - a.documents)
    .slice(0, maxBlocks)
    .filter((head) => {
      const isWanted = sum < documents;
      sum += head.documents;
      return isWanted;
    });
}

export type Expanded = { words: { word: string; documents: number }[]; terms: number[][] };

const maxLonger = 24;

export async function expand(
  tx: PoolClient,
  userId: string,
  heads: BlockHead[],
  units: Map<number, QueryUnit>,
): Promise<Map<number, Expanded>> {
  const asked = [...units].flatMap(([place, { beginning, field }]) => (beginning ? [{ place, beginning, field }] : []));
  const wanted = asked.flatMap(({ beginning }) =>
    heads.map(({ id, bits }) => ({ id, bucket: findBucket(beginning, bits) })),
  );
  const buckets = wanted.length > 0 ? await readBuckets(tx, userId, wanted) : [];
  return new Map(
    asked.map(({ place, beginning, field }, at) => {
      const own = buckets.slice(at * heads.length, (at + 1) * heads.length);
      return [
        place,
        expandBeginning(
          beginning,
          own.map(({ postings }) => postings),
          field,
        ),
      ];
    }),
  );
}

function expandBeginning(beginning: string, ofBlocks: Buffer[], field: QueryUnit["field"]): Expanded {
  const counts = new Map<string, number>();
  const found = ofBlocks.map((postings) => {
    const matching: string[] = [];
    for (const { word, documents } of decodeWords(postings, beginning)) {
      const own = fold(word);
      counts.set(own, (counts.get(own) ?? 0) + documents);
      matching.push(own);
    }
    return matching;
  });
  counts.delete(beginning);
  const words = [...counts].map(([word, documents]) => ({ word, documents }));
  const kept = words.sort((a, b) => b.documents - a.documents || (a.word < b.word ? -1 : 1)).slice(0, maxLonger);
  const meant = new Set(kept.map(({ word }) => word));
  const getFieldTerm = (word: string) => inField(hashWord(word), field ?? "any");
  return { words: kept, terms: found.map((own) => own.filter((word) => meant.has(word)).map(getFieldTerm)) };
}

const maxDocuments = 3000;

export async function suggestWords(
  tx: PoolClient,
  userId: string,
  beginning: string,
  limit: number,
): Promise<string[]> {
  const lower = fold(beginning);
  const heads = await readBlockHeads(tx, userId);
  const read =
    lower.length >= 3
      ? (
          await readBuckets(
            tx,
            userId,
            heads.map(({ id, bits }) => ({ id, bucket: findBucket(lower, bits) })),
          )
        ).map(({ postings }) => postings)
      : await readBucketRanges(
          tx,
          userId,
          largest(heads, maxDocuments).map(({ id, bits }) => ({ id, range: findLetterBuckets(lower, bits) })),
        );
  const counts = new Map<string, { word: string; documents: number }>();
  for (const { word, documents } of read.flatMap((postings) => decodeWords(postings, lower))) {
    const own = fold(word);
    if (own === lower) continue;
    const known = counts.get(own);
    counts.set(own, { word: known?.word ?? word, documents: (known?.documents ?? 0) + documents });
  }
  const found = [...counts.values()].sort((a, b) => b.documents - a.documents || (a.word < b.word ? -1 : 1));
  return found.slice(0, limit).map(({ word }) => word);
}
