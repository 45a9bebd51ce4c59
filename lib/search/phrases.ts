// Phrases of three words and more: the index knows pairs of words only, so the text decides.
import "server-only";
import type { PoolClient } from "pg";
import type { Hits } from "#lib/search/find";
import { makePause } from "#lib/search/pause";
import { findIn, patternOf, phrasesOf, type Query } from "#lib/search/query";
import { readCandidates } from "#lib/search/sql/read";
import { composed } from "#lib/search/terms";

/** What is read of one trace; where there is more, it is taken for a match. */
const bounds = { maxMessages: 200, maxCharacters: 100_000 };

/**
 * Of traces that have a query's terms, those that have its phrases of three words and more as they are written, in the same
 * order. Candidates too costly to verify, since one message is long or very many may match, are accepted.
 *
 * @param options.all whether all documents of a very long trace are read; otherwise the first, and the rest is accepted.
 */
export async function keepMatching(
  tx: PoolClient,
  { userId, query, hits }: { userId: string; query: Query; hits: Hits },
  traceIds: string[],
  { all }: { all: boolean },
): Promise<string[]> {
  const phrases = phrasesOf(query);
  const pattern = patternOf({ units: phrases });
  const maxDocuments = all ? null : 1;
  const rows = await readCandidates(tx, userId, traceIds, hits, pattern, { ...bounds, maxDocuments });
  const texts = Map.groupBy(rows, ({ traceId }) => traceId);
  const pause = makePause();
  const matching: string[] = [];
  for (const id of traceIds) {
    const contents = (texts.get(id) ?? []).map(({ content }) => content);
    const isAccepted = contents.length >= bounds.maxMessages || contents.includes(null);
    if (isAccepted || (await haveAll(contents, phrases, pause))) matching.push(id);
  }
  return matching;
}

/** Whether each of some phrases is in one of the texts at least. */
async function haveAll(
  texts: (string | null)[],
  phrases: Query["units"],
  pause: () => Promise<void>,
): Promise<boolean> {
  const missing = new Set(phrases);
  for (const text of texts) {
    for (const unit of missing) if (findIn(composed(text ?? ""), { units: [unit] }).found === 1) missing.delete(unit);
    if (missing.size === 0) return true;
    await pause();
  }
  return missing.size === 0;
}
