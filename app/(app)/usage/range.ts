import { z } from "zod";
import { addDays } from "#lib/usage/days";
import { type UsageFacet, usageDay, usageFacets, usageFilter } from "#lib/usage/schema";
import { listSpans, type Span } from "#lib/usage/spans";
import type { SearchParams } from "../../components/shell/pages";

/** In days. */
export const lengths = { "7": "7 days", "30": "30 days", "90": "90 days", "365": "A year" } as const;

export const measures = ["cost", "tokens", "messages", "sessions"] as const;
export type Measure = (typeof measures)[number];

const filterNames = Object.keys(usageFilter) as (keyof typeof usageFilter)[];
export type Filter = { [name in keyof typeof usageFilter]?: string | undefined };

const query = z.object({
  days: z.enum(["7", "30", "90", "365"]).catch("30"),
  from: usageDay.optional().catch(undefined),
  to: usageDay.optional().catch(undefined),
  by: z.enum(usageFacets).catch("source"),
  show: z.enum(measures).optional().catch(undefined),
});
const filters = z.object(usageFilter).catch({});

/** A bar needs three pixels on a phone. */
const maxDailyBars = 120;
const maxDays = 1100;

export type UsageRequest = {
  days: keyof typeof lengths | undefined;
  from: string;
  to: string;
  unit: "day" | "week";
  spans: Span[];
  by: UsageFacet;
  show: Measure | undefined;
  filter: Filter;
};

/** @param today the last day of each length, in the reader's zone */
export function readUsageParams(params: SearchParams, zone: string, today: string): UsageRequest {
  const { days, from, to, by, show } = query.parse(params);
  const shown = { by, show, filter: filters.parse(params) };
  if (!from && !to) {
    const first = addDays(today, 1 - Number(days));
    return { days, from: first, to: today, ...splitIntoBars(first, today, zone), ...shown };
  }
  const last = to ?? today;
  const given = from ?? addDays(last, 1 - Number(days));
  const first = [addDays(last, 1 - maxDays), earlier(given, last)].toSorted().at(-1) ?? last;
  return { days: undefined, from: first, to: last, ...splitIntoBars(first, last, zone), ...shown };
}

function splitIntoBars(from: string, to: string, zone: string): { unit: "day" | "week"; spans: Span[] } {
  const unit = addDays(from, maxDailyBars) > to ? "day" : "week";
  return { unit, spans: listSpans(from, to, unit, zone) };
}

const earlier = (one: string, other: string) => (one < other ? one : other);

type Change = {
  range?: { days: string } | { from: string; to: string };
  by?: UsageFacet;
  show?: Measure;
  filter?: Filter;
};

export function usageHref({ days, from, to, by, show, filter }: UsageRequest, change: Change): string {
  const range = change.range ?? (days ? { days } : { from, to });
  const measure = change.show ?? show;
  const values = { ...range, by: change.by ?? by, ...(measure && { show: measure }), ...(change.filter ?? filter) };
  return `/usage?${new URLSearchParams(given(values))}`;
}

export const usageRangeHref = (from: string, to: string): string => `/usage?${new URLSearchParams({ from, to })}`;

export function csvHref({ from, to, by, unit, filter }: UsageRequest, zone: string): string {
  return `/api/usage/export.csv?${new URLSearchParams(given({ from, to, zone, unit, by, ...filter }))}`;
}

const given = (values: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined));

export type Narrowed = {
  facet?: UsageFacet | undefined;
  value?: string | null | undefined;
  /** A project's id; for other facets the same as `value`. */
  id?: string | null | undefined;
  /** The list shows a model's other names. */
  names?: string[] | undefined;
};

export function tracesHref(
  days: { from: string; to: string },
  { facet, value, id, names }: Narrowed = {},
  filter: Filter = {},
): string {
  const { from, to } = days;
  const isProject = facet === "project" && id && id !== value;
  const own = isProject ? { projectId: id } : facet && value && isListed(facet) ? { [facet]: value } : {};
  const query = new URLSearchParams(given({ ...filter, ...own, from, to }));
  for (const name of new Set(facet === "model" ? names : [])) if (name !== value) query.append("model", name);
  return `/traces?${query}`;
}

const isListed = (facet: UsageFacet) => (filterNames as string[]).includes(facet);

export { filterNames };
