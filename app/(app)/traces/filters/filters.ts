import { parseInstant } from "#lib/core/fields";
import { findQueryProblem, isRanked } from "#lib/search/query";
import { filterNames, type TraceFilter } from "#lib/search/schema";
import type { Selection } from "#lib/search/sql/selection";
import { listQuery, type Order, type Sort } from "#lib/traces/schema";
import { addDays, getDayStart } from "#lib/usage/days";
import type { SearchParams } from "../../../components/shell/pages";
import { isoDay } from "../../../components/values/date-format";
import { filterQuery, type GivenFilters, withQuery } from "../hrefs";

export type ListRequest = {
  filter: TraceFilter;
  cursor: string | undefined;
  limit: number;
  sort: Sort;
  given: GivenFilters;
  /** Searches are ordered by relevance by default. */
  order: Order;
  /** Invalid parameters, and what is wrong with the search. */
  ignored: string[];
  problem?: string;
};

/** Fewer than in a list, since found sessions have excerpts. */
const foundPerPage = 20;

const day = /^\d{4}-\d\d-\d\d$/;

/** Invalid parameters are ignored, so that old links still show a list. */
export function readListParams(params: SearchParams, zone: string): ListRequest {
  const asked = Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => {
      const [first, ...more] = [...new Set([value ?? []].flat().filter((one) => one !== ""))];
      return first === undefined || name === "roots" ? [] : [[name, more.length > 0 ? [first, ...more] : first]];
    }),
  );
  const exact = { ...asked };
  if (typeof asked.from === "string" && day.test(asked.from)) exact.from = getDayStart(asked.from, zone) ?? asked.from;
  if (typeof asked.to === "string" && day.test(asked.to)) exact.to = getDayStart(asked.to, zone, 1) ?? asked.to;
  const parsed = listQuery.safeParse(exact);
  const ignored = parsed.success ? [] : [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
  const problem = typeof exact.q === "string" && !ignored.includes("q") ? findQueryProblem(exact.q) : undefined;
  if (problem) ignored.push("q");
  for (const name of ignored) delete exact[name];
  const { cursor, sort, order: _, limit: page, ...filter } = listQuery.parse(exact);
  const limit = filter.q && exact.limit === undefined ? foundPerPage : page;
  const given = Object.fromEntries(filterNames.filter((name) => name in filter).map((name) => [name, asked[name]]));
  const order = filter.q && exact.order !== "newest" && isRanked(filter.q) ? "best" : "newest";
  return { filter, cursor, limit, sort, given, order, ignored, ...(problem && { problem }) };
}

/** Without a search, hides archived and empty sessions. */
export function shown(filter: TraceFilter): TraceFilter {
  if (filter.q !== undefined) return filter;
  const { archived = false, trivial = archived ? undefined : false } = filter;
  return { ...filter, archived, ...(trivial !== undefined && { trivial }) };
}

export function listed(filter: TraceFilter): Selection {
  const isPlain = Object.values(filter).every((value) => value === undefined);
  return { ...shown(filter), ...(isPlain && { families: true }) };
}

export const exportHref = (filter: TraceFilter): string => withQuery("/api/traces/export", filterQuery(shown(filter)));

export type DatePreset = { label: string; from: string };

export function datePresets(zone: string, now: Date): DatePreset[] {
  const today = isoDay(now, zone);
  return [
    { label: "Today", from: today },
    { label: "Last 7 days", from: addDays(today, -6) },
    { label: "Last 30 days", from: addDays(today, -29) },
  ];
}

/** A link from another page may contain a moment; the fields take days only. */
export function parseFilterDay(value: string | undefined, zone: string): string | undefined {
  if (value === undefined || value.length === 10) return value;
  const at = parseInstant(value); // `Date` does not accept all formats of the filter
  return at === null ? undefined : isoDay(new Date(at), zone);
}
