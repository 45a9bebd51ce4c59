import "server-only";
import { readExcerpts } from "#lib/search/excerpts";
import { parseQuery } from "#lib/search/query";
import type { Selection } from "#lib/search/sql/selection";
import { listTraces, type Trace } from "#lib/traces/queries";

export type FoundMessages = { trace: Trace; positions: number[] };

type FindPage = { cursor?: string | undefined; limit: number };

/**
 * Best match first. `isPartial` if no session has all words and these have most; `corrected` replaced a word that is in
 * none.
 * @throws SpoorError `invalid_request` for an invalid query, `overloaded` as `heavyRead`
 */
export async function findSessions(
  userId: string,
  filter: Selection & { q: string },
  page: FindPage,
): Promise<{ found: FoundMessages[]; nextCursor: string | null; isPartial: boolean; corrected?: string }> {
  const { traces, nextCursor, partial, corrected } = await listTraces(userId, filter, { ...page, order: "best" });
  const unread = traces.filter(({ matches }) => matches === undefined).map(({ id }) => id);
  const excerpts =
    unread.length > 0 ? await readExcerpts(userId, unread, parseQuery(filter.q), filter.onlyProjectId) : undefined;
  const found = traces.map(({ matches, ...trace }) => ({
    trace,
    positions: (matches ?? excerpts?.get(trace.id)?.excerpts ?? []).map(({ position }) => position),
  }));
  return { found, nextCursor, isPartial: partial === true, ...(corrected !== undefined && { corrected }) };
}

/** The words by which a place in a text is found again. */
export const splitWords = (q: string): string[] =>
  [...q.matchAll(/[\p{L}\p{N}_./-]{2,}/gu)].map(([word]) => word).toSorted((a, b) => b.length - a.length);
