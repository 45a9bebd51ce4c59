import { isQuery } from "#lib/search/query";
import { listQuery, type TraceFilter } from "#lib/traces/schema";
import { startOfDay } from "../../components/zone";

export const filterNames = ["q", "source", "model", "project", "machine", "from", "to"] as const;
export type FilterName = (typeof filterNames)[number];

/** What a filter is called on the page. */
export const labelOf = (name: FilterName): string => (name === "q" ? "search" : name);

type Params = Record<string, string | string[] | undefined>;

export type ListRequest = {
  filter: TraceFilter;
  cursor: string | undefined;
  limit: number;
  /** The filters as they stand in the address, for links and chips. */
  given: Partial<Record<FilterName, string>>;
  /** Parameters that could not be understood and are left out. */
  ignored: string[];
};

export type Given = ListRequest["given"];

const day = /^\d{4}-\d\d-\d\d$/;

/**
 * Reads the list's parameters. Empty ones, as a form sends them, count as absent; wrong ones are left out and named,
 * so that an old or mistyped link still shows a list. `from` and `to` also take a plain day of the reader's zone.
 */
export function readListParams(params: Params, zone: string): ListRequest {
  const asked = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined && value !== ""));
  const exact = { ...asked };
  if (typeof asked.from === "string" && day.test(asked.from)) exact.from = startOfDay(asked.from, zone) ?? asked.from;
  if (typeof asked.to === "string" && day.test(asked.to)) exact.to = startOfDay(asked.to, zone, 1) ?? asked.to;
  const parsed = listQuery.safeParse(exact);
  const ignored = parsed.success ? [] : [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
  if (typeof exact.q === "string" && !ignored.includes("q") && !isQuery(exact.q)) ignored.push("q");
  for (const name of ignored) delete exact[name];
  const { cursor, limit, ...filter } = listQuery.parse(exact);
  const given = Object.fromEntries(filterNames.filter((name) => name in filter).map((name) => [name, asked[name]]));
  return { filter, cursor, limit, given, ignored };
}

const withQuery = (path: string, query: URLSearchParams) => (query.size > 0 ? `${path}?${query}` : path);

/** The list's address with these filters; without a cursor it begins at the newest. */
export function listHref(given: Given, more: { cursor?: string; menus?: "1"; deleted?: string } = {}): string {
  return withQuery("/traces", new URLSearchParams({ ...given, ...more }));
}

/** A session's address, with the list that one came from: its neighbours there, and the way back. */
export const traceHref = (id: string, given: Given): string =>
  withQuery(`/traces/${id}`, new URLSearchParams({ ...given }));

/** Where the export of all that a filter matches is. The API knows no reader's zone, so it is told moments. */
export const exportHref = (filter: TraceFilter): string =>
  withQuery("/api/traces/export", new URLSearchParams(filter as Record<string, string>));

/** The question whether to delete all that a filter matches. */
export const deleteAllHref = (given: Given): string => `/traces/delete?${new URLSearchParams({ ...given, all: "1" })}`;

/** The same filters with one of them taken away. */
export function without(given: Given, ...names: FilterName[]): Given {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name as FilterName)));
}
