import type { FilterName, SeveralName, TraceFilter } from "#lib/search/schema";
import type { Order, Sort } from "#lib/traces/schema";

export const getFilterLabel = (name: FilterName): string => shownNames[name] ?? name;

const shownNames: Partial<Record<FilterName, string>> = {
  q: "search",
  projectId: "project",
  parent: "below",
  pr: "pull request",
  errors: "failed calls",
  minCost: "costs at least $",
  minMessages: "messages, at least",
  trivial: "without content",
};

export type FilterTitles = Map<string, string>;

export const shownValue = (name: FilterName, value: string, names: FilterTitles): string =>
  name === "projectId" ? (names.get(value) ?? "no such project") : value;

export const shownValues = (given: GivenFilters, name: FilterName, names: FilterTitles): string =>
  getFilterValues(given, name)
    .map((value) => shownValue(name, value, names))
    .join(" or ");

/** As in the page's address; filters with several values may be lists. */
export type GivenFilters = { [Name in FilterName]?: Name extends SeveralName ? string | string[] : string };

export const getFilterValues = (given: GivenFilters, name: FilterName): string[] => [given[name] ?? []].flat();

const several: Record<SeveralName, true> = {
  ...{ source: true, model: true, project: true, machine: true, projectId: true },
  ...{ branch: true, file: true, tag: true, tool: true },
};
const isSeveral = (name: FilterName): name is SeveralName => name in several;

export const withValue = (given: GivenFilters, name: FilterName, value: string): GivenFilters => ({
  ...given,
  [name]: isSeveral(name) && given[name] !== undefined ? [...getFilterValues(given, name), value] : value,
});

export function withoutValue(given: GivenFilters, name: FilterName, value: string): GivenFilters {
  const [first, ...more] = getFilterValues(given, name).filter((one) => one !== value);
  return first === undefined ? without(given, name) : { ...given, [name]: more.length > 0 ? [first, ...more] : first };
}

export const listFilterEntries = (given: GivenFilters): [name: string, value: string][] =>
  Object.entries(given).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]));

export const toSearchParams = (given: GivenFilters, more: Record<string, string> = {}): URLSearchParams =>
  new URLSearchParams([...listFilterEntries(given), ...Object.entries(more)]);

export function paramsIn(query: string): Record<string, string | string[]> {
  const params = new URLSearchParams(query);
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const [first = "", ...more] = params.getAll(name);
      return [name, more.length > 0 ? [first, ...more] : first];
    }),
  );
}

export const withQuery = (path: string, query: URLSearchParams) => (query.size > 0 ? `${path}?${query}` : path);

export function listHref(given: GivenFilters, { order, ...more }: More = {}): string {
  // Relevance is the default order of a search.
  return withQuery("/traces", toSearchParams(given, { ...(order === "newest" && given.q && { order }), ...more }));
}

type More = { cursor?: string; menus?: "1"; deleted?: string; order?: Order; sort?: Sort };

export const traceHref = (id: string, given: GivenFilters): string => withQuery(`/traces/${id}`, toSearchParams(given));

export const pullHref = (repository: string, number: number): string =>
  `/pull/${repository.split("/").map(encodeURIComponent).join("/")}/${number}`;

export const deleteAllHref = (given: GivenFilters): string => `/traces/delete?${toSearchParams(given, { all: "1" })}`;

export const filterQuery = (filter: TraceFilter) =>
  new URLSearchParams(
    Object.entries(filter).flatMap(([name, value]) =>
      value === undefined ? [] : [value].flat().map((one) => [name, String(one)]),
    ),
  );

export function without(given: GivenFilters, ...names: FilterName[]): GivenFilters {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name as FilterName)));
}
