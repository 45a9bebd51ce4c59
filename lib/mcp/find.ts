// The one place where tools search: what the list of sessions does, too.
import "server-only";
import { readExcerpts } from "#lib/search/excerpts";
import { parseQuery } from "#lib/search/query";
import { listTraces, type Trace } from "#lib/traces/queries";
import type { TraceFilter } from "#lib/traces/schema";

/** A session that a search found, and the positions of the messages that match best. */
export type Found = { trace: Trace; positions: number[] };

type Page = { cursor?: string | undefined; limit: number };

/**
 * A page of the sessions that a query finds.
 *
 * @throws SpoorError `invalid_request` for a query that is none, `overloaded` as `heavyRead`
 */
export async function findSessions(
  userId: string,
  filter: TraceFilter & { q: string },
  page: Page,
): Promise<{ found: Found[]; nextCursor: string | null }> {
  const { traces, nextCursor } = await listTraces(userId, filter, page);
  const ids = traces.map(({ id }) => id);
  const excerpts = ids.length > 0 ? await readExcerpts(userId, ids, parseQuery(filter.q)) : undefined;
  const found = traces.map((trace) => ({
    trace,
    positions: excerpts?.get(trace.id)?.excerpts.map(({ position }) => position) ?? [],
  }));
  return { found, nextCursor };
}

/** The words of a query by which the place in a text is found again. */
export const wordsOf = (q: string): string[] =>
  [...q.matchAll(/[\p{L}\p{N}_./-]{2,}/gu)].map(([word]) => word).toSorted((a, b) => b.length - a.length);
