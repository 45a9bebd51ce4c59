import "server-only";
import type { PoolClient } from "pg";
import { heavyRead } from "#lib/db/heavy";
import { type Excerpts, readBest } from "#lib/search/excerpts";
import { hitsIn, type Matched, matchBlocks } from "#lib/search/index/find-documents";
import { computeWeights, type Ranked, rank, relax } from "#lib/search/index/rank-documents";
import { keepMatching } from "#lib/search/phrases";
import { getUnprovenGroups, parseQuery, type SearchQuery } from "#lib/search/query";
import { listHits, someHits } from "#lib/search/search-traces";
import { correctIn } from "#lib/search/slips";
import { readRankedTraces } from "#lib/search/sql/rank-traces";
import type { PlainSelection, Selection } from "#lib/search/sql/selection";

const max = { documents: 1200, traces: 500 };
/** Usually enough, since most documents are a whole trace. */
const firstDocuments = 600;
const maxSelected = 2000;
const maxRead = 20;

/**
 * `onFirst` receives the traces whose texts are being read (unordered) and whether they are all, so that the caller
 * can read more of them meanwhile.
 */
type RankOptions = {
  wanted?: number;
  countUpTo?: number | undefined;
  onFirst?: (ids: string[], areAll: boolean) => void;
};

type RankedTrace = { id: string; score: number };

/** `corrected`: the query searched instead, because some words are unknown. `isPartial`: no trace matches fully. */
export type Ranking = {
  traces: RankedTrace[];
  found: Map<string, Excerpts>;
  read: Set<string>;
  isPartial: boolean;
  count: number;
  corrected?: string;
};

/**
 * At most 500 traces, the best first.
 * @throws SpoorError `invalid_request` as `parseQuery`, `overloaded` as `heavyRead`
 */
export async function rankTraces(
  userId: string,
  { q = "", ...given }: Selection,
  options: RankOptions = {},
): Promise<Ranking> {
  return heavyRead(userId, async (tx) => {
    const search = searchFor(userId, q, given);
    const { onlyProjectId } = given;
    const matched = await matchBlocks(tx, userId, search.query, onlyProjectId);
    // Corrections come from all projects, so a reader of one project gets none.
    if (hitsIn(matched).count > 0 || onlyProjectId) return rankIn(tx, search, matched, options);
    const corrected = await correctIn(tx, userId, q, matched);
    if (corrected === undefined) return rankIn(tx, search, matched, options);
    const meant = searchFor(userId, corrected, given);
    return { ...(await rankIn(tx, meant, await matchBlocks(tx, userId, meant.query), options)), corrected };
  });
}

function searchFor(userId: string, q: string, given: Omit<Selection, "q">): Search {
  const { files, rows, ...query } = parseQuery(q);
  return { userId, selection: { ...given, files, rows }, query };
}

type Search = { userId: string; selection: PlainSelection; query: SearchQuery };

async function rankIn(
  tx: PoolClient,
  search: Search,
  matched: Matched,
  { wanted = max.traces, countUpTo = 0, onFirst }: RankOptions,
): Promise<Ranking> {
  const { userId, selection, query } = search;
  const weights = computeWeights(matched);
  let hits = hitsIn(matched);
  const isPartial = hits.count === 0 && relax(query, matched, weights);
  if (isPartial) hits = hitsIn(matched);
  if (hits.count === 0) return { traces: [], found: new Map(), read: new Set(), isPartial: false, count: 0 };
  const newest =
    isFiltered(selection) && hits.count > max.documents
      ? await listHits(tx, { userId, selection, hits }, { after: undefined, limit: maxSelected })
      : undefined;
  const limit = newest ? hits.count : max.documents;
  const ranked: Ranked[] = await rank(tx, userId, query, matched, { weights, limit });
  const scope = newest ? { ...selection, ids: newest } : selection;
  let traces = await readBestTraces(tx, userId, scope, ranked);
  const isProven = isPartial || getUnprovenGroups(query).length === 0;
  const disproved = isProven ? new Set() : await findDisproved(tx, { userId, query, hits }, traces, wanted);
  traces = traces.filter(({ id }) => !disproved.has(id));
  const first = traces.slice(0, maxRead).map(({ id }) => id);
  onFirst?.(first, first.length === traces.length);
  const isCounted = !isPartial && countUpTo > 0;
  const countAll = async () => (isCounted ? someHits(tx, { ...search, hits }, countUpTo) : []);
  const [found, all] = await readBest(tx, userId, first, { query, matched, weights }, countAll);
  const count = all.filter((id) => !disproved.has(id)).length;
  const read = new Set(first);
  return { traces: reorder(traces, found), found, read, isPartial, count: isPartial ? traces.length : count };
}

async function readBestTraces(
  tx: PoolClient,
  userId: string,
  selection: PlainSelection,
  ranked: Ranked[],
): Promise<RankedTrace[]> {
  const read = (some: Ranked[]) => readRankedTraces(tx, userId, selection, some, max.traces);
  const first = await read(ranked.slice(0, firstDocuments));
  if (first.length === max.traces || ranked.length <= firstDocuments) return first;
  const known = new Set(first.map(({ id }) => id)); // by a document that matches better
  const rest = (await read(ranked.slice(firstDocuments))).filter(({ id }) => !known.has(id));
  return [...first, ...rest].sort((a, b) => b.score - a.score).slice(0, max.traces);
}

/** `onlyProjectId` is not a filter here, since other projects' documents are never hits. */
const isFiltered = ({ files = [], rows = [], onlyProjectId: _, ...rest }: PlainSelection) =>
  files.length + rows.length > 0 || Object.values(rest).some((value) => value !== undefined && value !== false);

const verified = { max: 60, atOnce: 30 };

/** Among the first sixty, or until `wanted` are verified. */
async function findDisproved(
  tx: PoolClient,
  search: { userId: string; query: SearchQuery; hits: ReturnType<typeof hitsIn> },
  traces: RankedTrace[],
  wanted: number,
): Promise<Set<string>> {
  const ids = traces.slice(0, verified.max).map(({ id }) => id);
  const isAll = traces.length <= verified.max;
  const disproved = new Set<string>();
  for (let at = 0; at < ids.length && (isAll || at - disproved.size < wanted); at += verified.atOnce) {
    const some = ids.slice(at, at + verified.atOnce);
    const matching = new Set(await keepMatching(tx, search, some, { all: false }));
    for (const id of some) if (!matching.has(id)) disproved.add(id);
  }
  return disproved;
}

function reorder(traces: RankedTrace[], found: Map<string, Excerpts>): RankedTrace[] {
  const first = traces
    .slice(0, maxRead)
    .map((trace) => ({ ...trace, score: trace.score + (found.get(trace.id)?.score ?? 0) }));
  return [...first.sort((a, b) => b.score - a.score), ...traces.slice(maxRead)];
}
