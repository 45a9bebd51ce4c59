import type { FilterName, Order, SeveralName, Sort, TraceFilter } from "#lib/traces/schema";

/** A filter's name on the page. */
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

/** The names of the projects that are filtered by, by their ids. */
export type FilterTitles = Map<string, string>;

/** A filter's value as shown; a project's is its name. */
export const shownValue = (name: FilterName, value: string, names: FilterTitles): string =>
  name === "projectId" ? (names.get(value) ?? "no such project") : value;

/** A filter's values as shown, in a sentence. */
export const shownValues = (given: GivenFilters, name: FilterName, names: FilterTitles): string =>
  getFilterValues(given, name)
    .map((value) => shownValue(name, value, names))
    .join(" or ");

/** The filters as in the page's address, for links and chips; those that take several values may be lists. */
export type GivenFilters = { [Name in FilterName]?: Name extends SeveralName ? string | string[] : string };

export const getFilterValues = (given: GivenFilters, name: FilterName): string[] => [given[name] ?? []].flat();

const several: Record<SeveralName, true> = {
  ...{ source: true, model: true, project: true, machine: true, projectId: true },
  ...{ branch: true, file: true, tag: true, tool: true },
};
const isSeveral = (name: FilterName): name is SeveralName => name in several;

/** The filters with another value of one, in the place of what it had where it takes only one. */
export const withValue = (given: GivenFilters, name: FilterName, value: string): GivenFilters => ({
  ...given,
  [name]: isSeveral(name) && given[name] !== undefined ? [...getFilterValues(given, name), value] : value,
});

/** The filters without one value of one of them. */
export function withoutValue(given: GivenFilters, name: FilterName, value: string): GivenFilters {
  const [first, ...more] = getFilterValues(given, name).filter((one) => one !== value);
  return first === undefined ? without(given, name) : { ...given, [name]: more.length > 0 ? [first, ...more] : first };
}

/** The filters as parameters, a repeated one for several values. */
export const listFilterEntries = (given: GivenFilters): [name: string, value: string][] =>
  Object.entries(given).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]));

export const toSearchParams = (given: GivenFilters, more: Record<string, string> = {}): URLSearchParams =>
  new URLSearchParams([...listFilterEntries(given), ...Object.entries(more)]);

/** Parameters of an address as a page gets them. */
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

/** The list's address with these filters; without a cursor it starts at the newest. */
export function listHref(given: GivenFilters, { order, ...more }: More = {}): string {
  // The best match is the order of every search.
  return withQuery("/traces", toSearchParams(given, { ...(order === "newest" && given.q && { order }), ...more }));
}

type More = { cursor?: string; menus?: "1"; deleted?: string; order?: Order; sort?: Sort };

/** A session's address with the filters of the list: for its neighbours there, and the way back. */
export const traceHref = (id: string, given: GivenFilters): string => withQuery(`/traces/${id}`, toSearchParams(given));

/** The page of a pull request. */
export const pullHref = (repository: string, number: number): string =>
  `/pull/${repository.split("/").map(encodeURIComponent).join("/")}/${number}`;

/** The address of the question whether to delete all that a filter matches. */
export const deleteAllHref = (given: GivenFilters): string => `/traces/delete?${toSearchParams(given, { all: "1" })}`;

/** The filters in the form in which the API takes them. */
export const filterQuery = (filter: TraceFilter) =>
  new URLSearchParams(
    Object.entries(filter).flatMap(([name, value]) =>
      value === undefined ? [] : [value].flat().map((one) => [name, String(one)]),
    ),
  );

/** The same filters without some of them. */
export function without(given: GivenFilters, ...names: FilterName[]): GivenFilters {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name as FilterName)));
}
