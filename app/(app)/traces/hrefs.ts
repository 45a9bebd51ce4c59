import type { FilterName, Order, Sort, TraceFilter } from "#lib/traces/schema";

/** A filter's name on the page. */
export const labelOf = (name: FilterName): string => shownNames[name] ?? name;

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

/** A filter's value as shown; a project's is its name. @param project the name of the one that is filtered by */
export const shownValue = (given: Given, name: FilterName, project: string | undefined): string | undefined =>
  name === "projectId" && given.projectId !== undefined ? (project ?? "no such project") : given[name];

/** The filters as in the page's address, for links and chips. */
export type Given = Partial<Record<FilterName, string>>;

export const withQuery = (path: string, query: URLSearchParams) => (query.size > 0 ? `${path}?${query}` : path);

/** The list's address with these filters; without a cursor it starts at the newest. */
export function listHref(given: Given, { order, ...more }: More = {}): string {
  // The best match is the order of every search.
  return withQuery(
    "/traces",
    new URLSearchParams({ ...given, ...(order === "newest" && given.q && { order }), ...more }),
  );
}

type More = { cursor?: string; menus?: "1"; deleted?: string; order?: Order; sort?: Sort };

/** A session's address with the filters of the list: for its neighbours there, and the way back. */
export const traceHref = (id: string, given: Given): string =>
  withQuery(`/traces/${id}`, new URLSearchParams({ ...given }));

/** The page of a pull request. */
export const pullHref = (repository: string, number: number): string =>
  `/pull/${repository.split("/").map(encodeURIComponent).join("/")}/${number}`;

/** The address of the question whether to delete all that a filter matches. */
export const deleteAllHref = (given: Given): string => `/traces/delete?${new URLSearchParams({ ...given, all: "1" })}`;

/** The filters in the form in which the API takes them. */
export const filterQuery = (filter: TraceFilter) =>
  new URLSearchParams(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

/** The same filters without some of them. */
export function without(given: Given, ...names: FilterName[]): Given {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name as FilterName)));
}
