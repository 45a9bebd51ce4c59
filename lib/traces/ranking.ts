// Lists of what a query finds, the best match first.
import "server-only";
import type { PoolClient } from "pg";
import { heavyRead } from "#lib/db/heavy";
import { type Excerpts, readBest } from "#lib/search/excerpts";
import { hitsIn, matchBlocks } from "#lib/search/find";
import { keepMatching } from "#lib/search/phrases";
import { parseQuery, type Query, unprovenOf } from "#lib/search/query";
import { type Ranked, rank, relax, weightsOf } from "#lib/search/rank";
import { listHits } from "#lib/traces/search";
import type { PlainSelection, Selection } from "#lib/traces/sql/conditions";
import { readRankedTraces } from "#lib/traces/sql/ranking";

/** How many of the best documents by the index are looked up, and how many traces are listed at most. */
const max = { documents: 1200, traces: 500 };
/** Of a selection that leaves out some of the hits, the best of so many of its newest ones are listed. */
const maxSelected = 2000;
/** The texts of so many of the first traces decide their order. */
const maxRead = 20;

type RankedTrace = { id: string; score: number };

/** `isPartial`: no trace has all that the query asks for; these have most of it. */
export type Ranking = { traces: RankedTrace[]; found: Map<string, Excerpts>; isPartial: boolean };

/**
 * The traces of a selection that its search finds, the best match first: at most 500.
 *
 * @throws SpoorError `invalid_request` as `parseQuery`, `overloaded` as `heavyRead`.
 */
export async function rankTraces(userId: string, { q = "", ...given }: Selection): Promise<Ranking> {
  const { files, rows, ...query } = parseQuery(q);
  const selection = { ...given, files, rows };
  return heavyRead(userId, (tx) => rankIn(tx, userId, selection, query));
}

async function rankIn(tx: PoolClient, userId: string, selection: PlainSelection, query: Query): Promise<Ranking> {
  const matched = await matchBlocks(tx, userId, query);
  const weights = weightsOf(matched);
  let hits = hitsIn(matched);
  const isPartial = hits.count === 0 && relax(query, matched, weights);
  if (isPartial) hits = hitsIn(matched);
  if (hits.count === 0) return { traces: [], found: new Map(), isPartial: false };
  const newest =
    isFiltered(selection) && hits.count > max.documents
      ? await listHits(tx, { userId, selection, hits }, { after: undefined, limit: maxSelected })
      : undefined;
  const limit = newest ? hits.count : max.documents;
  const ranked: Ranked[] = await rank(tx, userId, query, matched, { weights, limit });
  const scope = newest ? { ...selection, ids: newest } : selection;
  let traces = await readRankedTraces(tx, userId, scope, ranked, max.traces);
  if (!isPartial && unprovenOf(query).length > 0) traces = await verified(tx, { userId, query, hits }, traces);
  const found = await readBest(
    tx,
    userId,
    traces.slice(0, maxRead).map(({ id }) => id),
    query,
    weights,
  );
  return { traces: reorder(traces, found), found, isPartial };
}

/** Whether a selection may leave out hits. */
const isFiltered = ({ files = [], rows = [], ...rest }: PlainSelection) =>
  files.length + rows.length > 0 || Object.values(rest).some((value) => value !== undefined && value !== false);

/** The first hundred are read; of what the texts do not prove, nothing is left among them. */
async function verified(
  tx: PoolClient,
  search: { userId: string; query: Query; hits: ReturnType<typeof hitsIn> },
  traces: RankedTrace[],
): Promise<RankedTrace[]> {
  const maxVerified = 100;
  const ids = traces.slice(0, maxVerified).map(({ id }) => id);
  const kept = new Set(await keepMatching(tx, search, ids, { all: false }));
  return traces.filter(({ id }, place) => place >= maxVerified || kept.has(id));
}

/** The first traces by what their best message says too. */
function reorder(traces: RankedTrace[], found: Map<string, Excerpts>): RankedTrace[] {
  const first = traces
    .slice(0, maxRead)
    .map((trace) => ({ ...trace, score: trace.score + (found.get(trace.id)?.score ?? 0) }));
  return [...first.sort((a, b) => b.score - a.score), ...traces.slice(maxRead)];
}
