// Lists of what a query finds, the best match first.
import "server-only";
import type { PoolClient } from "pg";
import { heavyRead } from "#lib/db/heavy";
import { type Excerpts, readBest } from "#lib/search/excerpts";
import { hitsIn, type Matched, matchBlocks } from "#lib/search/find";
import { keepMatching } from "#lib/search/phrases";
import { getUnprovenGroups, parseQuery, type SearchQuery } from "#lib/search/query";
import { computeWeights, type Ranked, rank, relax } from "#lib/search/rank";
import { correctIn } from "#lib/search/slips";
import { listHits, someHits } from "#lib/traces/search";
import type { PlainSelection, Selection } from "#lib/traces/sql/conditions";
import { readRankedTraces } from "#lib/traces/sql/ranking";

/** How many of the best documents by the index are looked up, and how many traces are listed at most. */
const max = { documents: 1200, traces: 500 };
/** So many of them are looked up first: most documents are a trace of their own, so that these are often enough. */
const firstDocuments = 600;
/** Of a selection that leaves out some of the hits, the best of so many of its newest ones are listed. */
const maxSelected = 2000;
/** The texts of so many of the first traces decide their order. */
const maxRead = 20;

/**
 * `wanted`: how many of the first traces are needed. `countUpTo`: how many traces are counted. `onFirst` gets the traces whose texts
 * decide their order, at most 20 and not in it yet, and whether these are all: what else is wanted of them can be read meanwhile.
 */
type Options = { wanted?: number; countUpTo?: number | undefined; onFirst?: (ids: string[], areAll: boolean) => void };

type RankedTrace = { id: string; score: number };

/**
 * `corrected`: words of the query are in no trace; this was searched for instead. `isPartial`: no trace has all that was searched
 * for; these have most of it. `count` is how many traces were found, up to `countUpTo`, or listed where they are partial.
 */
export type Ranking = {
  traces: RankedTrace[];
  /** What was found in the texts that were read, which are those of `read`. */
  found: Map<string, Excerpts>;
  read: Set<string>;
  isPartial: boolean;
  count: number;
  corrected?: string;
};

/**
 * The traces of a selection that its search finds, the best match first: at most 500.
 *
 * @throws SpoorError `invalid_request` as `parseQuery`, `overloaded` as `heavyRead`.
 */
export async function rankTraces(
  userId: string,
  { q = "", ...given }: Selection,
  options: Options = {},
): Promise<Ranking> {
  return heavyRead(userId, async (tx) => {
    const search = searchFor(userId, q, given);
    const { onlyProjectId } = given;
    const matched = await matchBlocks(tx, userId, search.query, onlyProjectId);
    // Words by which slips are corrected are of all projects.
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
  { wanted = max.traces, countUpTo = 0, onFirst }: Options,
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

/** The traces of the best documents, the best first: at most 500. */
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

/** Whether a selection may leave out hits; those of another project than the only one are none. */
const isFiltered = ({ files = [], rows = [], onlyProjectId: _, ...rest }: PlainSelection) =>
  files.length + rows.length > 0 || Object.values(rest).some((value) => value !== undefined && value !== false);

/** Of how many traces the texts are read to verify a phrase at most, and of how many at once. */
const verified = { max: 60, atOnce: 30 };

/**
 * Those that have what was asked for in no text: of the first sixty, or, where more were found, of the first until so many that are
 * wanted have it.
 */
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

/** The first traces by what their best message says too. */
function reorder(traces: RankedTrace[], found: Map<string, Excerpts>): RankedTrace[] {
  const first = traces
    .slice(0, maxRead)
    .map((trace) => ({ ...trace, score: trace.score + (found.get(trace.id)?.score ?? 0) }));
  return [...first.sort((a, b) => b.score - a.score), ...traces.slice(maxRead)];
}
