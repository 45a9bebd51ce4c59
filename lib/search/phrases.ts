// What the index does not prove, the text decides: phrases of three words and more, since the index knows pairs of words only,
// and words of a speaker whose words are no field of it.
import "server-only";
import type { PoolClient } from "pg";
import { inSlices } from "#lib/concurrency/slices";
import type { Hits } from "#lib/search/find";
import { getUnprovenGroups, type QueryGroup, type QueryScope, type SearchQuery } from "#lib/search/query";
import { describe } from "#lib/search/speaker";
import { type Candidate, readCandidates } from "#lib/search/sql/read";
import { composed } from "#lib/search/terms";
import { findIn, joinPatterns } from "#lib/search/unit";

/** What is read of one trace; where there is more, it is taken for a match. */
const bounds = { maxMessages: 200, maxCharacters: 100_000 };

/**
 * Of traces that have a query's terms, those that have its phrases as they are written, by whom they are asked for, in the same
 * order. Candidates too costly to verify, since one message is long or very many may match, are accepted.
 *
 * @param options.all whether all documents of a very long trace are read; otherwise the first, and the rest is accepted.
 */
export async function keepMatching(
  tx: PoolClient,
  { userId, query, hits }: { userId: string; query: SearchQuery; hits: Hits },
  traceIds: string[],
  { all }: { all: boolean },
): Promise<string[]> {
  const groups = getUnprovenGroups(query);
  const units = groups.flatMap((group) => group.units);
  const read = { ...bounds, maxDocuments: all ? null : 1 };
  const rows = await readCandidates(tx, userId, traceIds, hits, joinPatterns(units), read);
  const texts = Map.groupBy(rows, ({ traceId }) => traceId);
  const matching: string[] = [];
  function* match(id: string) {
    const own = texts.get(id) ?? [];
    const isAccepted = own.length >= bounds.maxMessages || own.some(({ content }) => content === null);
    if (isAccepted || (yield* haveAll(own, groups, query.scope))) matching.push(id);
  }
  await inSlices(traceIds.values().flatMap(match));
  return matching;
}

/** Whether one unit of each group is in one of the texts at least. */
function* haveAll(
  texts: Candidate[],
  groups: QueryGroup[],
  scope: QueryScope | undefined,
): Generator<undefined, boolean> {
  const missing = new Set(groups);
  for (const text of texts) {
    if (!isSaidBy(text, scope)) continue;
    const content = composed(text.content ?? "");
    for (const group of missing) if (findIn(content, group).found > 0) missing.delete(group);
    if (missing.size === 0) return true;
    yield;
  }
  return missing.size === 0;
}

/** Whether a text is where the words are asked for, and evidence of them. */
export function isSaidBy(
  text: Pick<Candidate, "position" | "role" | "content" | "metadata">,
  scope: QueryScope | undefined,
): boolean {
  if (text.position === null || scope === "title")
    return scope === undefined || (scope === "title" && text.position === null);
  const { speaker, isEcho } = describe({ ...text, content: text.content ?? "" });
  return !isEcho && (scope === undefined || speaker === scope);
}
