// Verifies in the text what the index cannot prove: phrases of three or more words, and words of speakers without a
// field.
import "server-only";
import type { PoolClient } from "pg";
import { inSlices } from "#lib/core/concurrency/slices";
import type { Hits } from "#lib/search/index/find-documents";
import { describe } from "#lib/search/index/speaker";
import { type Candidate, readCandidates } from "#lib/search/index/sql/block-rows";
import { composed } from "#lib/search/index/terms";
import { findIn, joinPatterns } from "#lib/search/index/unit";
import { getUnprovenGroups, type QueryGroup, type QueryScope, type SearchQuery } from "#lib/search/query";

const bounds = { maxMessages: 200, maxCharacters: 100_000 };

/**
 * Candidates too costly to verify are accepted.
 * @param options.all read all documents of a very long trace, not only the first
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

export function isSaidBy(
  text: Pick<Candidate, "position" | "role" | "content" | "metadata">,
  scope: QueryScope | undefined,
): boolean {
  if (text.position === null || scope === "title")
    return scope === undefined || (scope === "title" && text.position === null);
  const { speaker, isEcho } = describe({ ...text, content: text.content ?? "" });
  return !isEcho && (scope === undefined || speaker === scope);
}
