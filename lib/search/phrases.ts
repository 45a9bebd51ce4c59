// Phrases of three words and more: the index knows pairs of words only, so the text decides.
import "server-only";
import type { PoolClient } from "pg";
import type { Hits } from "#lib/search/find";
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
  return traceIds.filter((id) => {
    const contents = (texts.get(id) ?? []).map(({ content }) => content);
    if (contents.length >= bounds.maxMessages || contents.includes(null)) return true;
    return phrases.every((unit) =>
      contents.some((text) => findIn(composed(text ?? ""), { units: [unit] }).found === 1),
    );
  });
}
