import "server-only";
import { type Facet, facets } from "#lib/core/fields";
import { undated } from "#lib/prices/model";
import type { TraceFilter } from "#lib/search/schema";
import { findIds, resolveSearch } from "#lib/search/search-traces";
import type { ListPlace, PlainSelection, Selection } from "#lib/search/sql/selection";
import type { FacetValue, FacetValues } from "#lib/traces/schema";
import { countProjects, countPutAway, countSeveral, countUpTo, countValues, type Several } from "#lib/traces/sql/list";

const maxValues = 100;
/** As many as the list counts, so that the search runs once. */
const maxFound = 10_001;

export async function readFacets(userId: string, filter: TraceFilter): Promise<FacetValues> {
  const given = facets.filter((name) => filter[name] !== undefined);
  const groups = [facets.filter((name) => !given.includes(name)), ...given.map((name) => [name])];
  const counted = await Promise.all(
    groups.filter((names) => names.length > 0).map((names) => countGroup(userId, filter, names)),
  );
  const projectId = await countProjectValues(userId, filter);
  const several: Pick<FacetValues, Several> = { branch: [], tag: [], tool: [] };
  for (const name of ["branch", "tag", "tool"] as const) several[name] = await countSeveralValued(userId, filter, name);
  return Object.assign({ source: [], model: [], project: [], machine: [], projectId }, several, ...counted);
}

async function countSeveralValued(userId: string, filter: TraceFilter, name: Several): Promise<FacetValue[]> {
  const selection = await resolveOnce(userId, { ...filter, [name]: undefined }, maxFound);
  return countSeveral(userId, selection, name, maxValues);
}

async function countProjectValues(userId: string, { project: _, projectId: __, ...others }: TraceFilter) {
  return countProjects(userId, await resolveOnce(userId, others, maxFound), maxValues);
}

async function countGroup(
  userId: string,
  filter: TraceFilter,
  names: Facet[],
): Promise<Partial<Record<Facet, FacetValue[]>>> {
  const others = { ...filter, ...Object.fromEntries(names.map((name) => [name, undefined])) };
  const counted = await countValues(userId, await resolveOnce(userId, others, maxFound), names, maxValues);
  return counted.model ? { ...counted, model: mergeTwins(counted.model) } : counted;
}

function mergeTwins(values: FacetValue[]): FacetValue[] {
  const counts = new Map<string, number>();
  for (const { value, count } of values) counts.set(undated(value), (counts.get(undated(value)) ?? 0) + count);
  const merged = [...counts].map(([value, count]) => ({ value, count }));
  return merged.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

async function resolveOnce(userId: string, { q, ...plain }: Selection, limit: number): Promise<PlainSelection> {
  return q === undefined ? plain : { ...plain, ids: await findIds(userId, { q, ...plain }, limit) };
}

/** Counts up to `max`. */
export async function countTraces(userId: string, filter: Selection, max: number): Promise<number> {
  const { q, ...plain } = filter;
  if (q !== undefined) return (await findIds(userId, filter, max)).length;
  return isPlainList(plain) ? countListed(userId, plain, max) : countUpTo(userId, plain, max);
}

function isPlainList({ families: _, archived, trivial, ...filters }: PlainSelection): boolean {
  return archived === false && trivial === false && Object.values(filters).every((value) => value === undefined);
}

/** A few put-away traces are cheaper to count separately. */
const maxPutAway = 2000;

async function countListed(userId: string, selection: PlainSelection, max: number): Promise<number> {
  const { families } = selection;
  const putAway = await countPutAway(userId, { families }, maxPutAway + 1);
  if (putAway > maxPutAway) return countUpTo(userId, selection, max);
  return Math.max(0, (await countUpTo(userId, { families }, max + putAway)) - putAway);
}

const maxChanges = 100;

/**
 * Counts, up to 100, the traces that come before a place in the list: new and changed ones. With `roots`, changes
 * below a trace count as its own.
 */
export async function countChanges(
  userId: string,
  { roots, ...filter }: TraceFilter,
  first: ListPlace,
): Promise<number> {
  const selection = { ...filter, families: roots };
  return countUpTo(userId, await resolveSearch(userId, selection, { limit: maxChanges }), maxChanges, first);
}
