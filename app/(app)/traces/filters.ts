import { listQuery, type TraceFilter } from "#lib/traces/schema";
import { startOfDay } from "../../components/zone";

export const filterNames = ["source", "model", "project", "from", "to"] as const;
export type FilterName = (typeof filterNames)[number];
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
  for (const name of ignored) delete exact[name];
  const { cursor, limit, ...filter } = listQuery.parse(exact);
  const given = Object.fromEntries(filterNames.filter((name) => name in filter).map((name) => [name, asked[name]]));
  return { filter, cursor, limit, given, ignored };
}

/** The list's address with these filters; without a cursor it begins at the newest. */
export function listHref(given: ListRequest["given"], more: { cursor?: string } = {}): string {
  const query = new URLSearchParams({ ...given, ...more }).toString();
  return query ? `/traces?${query}` : "/traces";
}

/** The same filters with one of them taken away. */
export function without(given: ListRequest["given"], name: FilterName): ListRequest["given"] {
  const { [name]: _dropped, ...rest } = given;
  return rest;
}
