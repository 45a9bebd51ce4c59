import { z } from "zod";
import { type Facet, facets } from "#lib/fields";
import { addDays, startOfDay } from "../../components/zone";

/** The lengths to choose from, in days. */
export const lengths = { "7": "7 days", "30": "30 days", "90": "90 days", "365": "A year" } as const;

export { type Facet, facets };
export const measures = ["tokens", "messages", "sessions"] as const;
export type Measure = (typeof measures)[number];

/** The years before and after also have four digits, since days are compared as text. */
const day = z.iso.date().refine((text) => text >= "0005-01-01" && text < "9999-01-01");
const query = z.object({
  days: z.enum(["7", "30", "90", "365"]).catch("30"),
  from: day.optional().catch(undefined),
  to: day.optional().catch(undefined),
  by: z.enum(facets).catch("source"),
  show: z.enum(measures).optional().catch(undefined),
});

/** Longer ranges have a bar a week, Monday to Sunday: a bar needs three pixels on a phone. */
const maxDailyBars = 120;
const maxDays = 1100;

/** A bar's first and last day, and the moments at which it begins and ends. */
export type Span = { from: string; to: string; start: Date; end: Date };

export type UsageRequest = {
  /** One of the lengths, or undefined where the days were given. */
  days: keyof typeof lengths | undefined;
  from: string;
  to: string;
  unit: "day" | "week";
  spans: Span[];
  by: Facet;
  show: Measure | undefined;
};

/**
 * Reads the page's parameters. Invalid values count as absent; a span is at most three years long.
 *
 * @param today the last day of each length, in the reader's zone.
 */
export function readUsageParams(
  params: Record<string, string | string[] | undefined>,
  zone: string,
  today: string,
): UsageRequest {
  const { days, from, to, by, show } = query.parse(params);
  if (!from && !to) {
    const first = addDays(today, 1 - Number(days));
    return { days, from: first, to: today, ...spansOf(first, today, zone), by, show };
  }
  const last = to ?? today;
  const given = from ?? addDays(last, 1 - Number(days));
  const first = [addDays(last, 1 - maxDays), earlier(given, last)].toSorted().at(-1) ?? last;
  return { days: undefined, from: first, to: last, ...spansOf(first, last, zone), by, show };
}

function spansOf(from: string, to: string, zone: string): { unit: "day" | "week"; spans: Span[] } {
  const unit = addDays(from, maxDailyBars) > to ? "day" : "week";
  const spans: Span[] = [];
  for (let first = from; first <= to; ) {
    const last = unit === "day" ? first : earlier(sundayOf(first), to);
    spans.push({ from: first, to: last, start: startIn(zone, first), end: startIn(zone, addDays(last, 1)) });
    first = addDays(last, 1);
  }
  return { unit, spans };
}

const earlier = (one: string, other: string) => (one < other ? one : other);
const sundayOf = (date: string) => addDays(date, (7 - new Date(`${date}T00:00:00Z`).getUTCDay()) % 7);

function startIn(zone: string, date: string): Date {
  const start = startOfDay(date, zone);
  if (!start) throw new Error(`${date} is no day`);
  return new Date(start);
}

type Change = { range?: { days: string } | { from: string; to: string }; by?: Facet; show?: Measure };

/** The page's address with some parameters changed. */
export function usageHref({ days, from, to, by, show }: UsageRequest, change: Change): string {
  const range = change.range ?? (days ? { days } : { from, to });
  const measure = change.show ?? show;
  return `/usage?${new URLSearchParams({ ...range, by: change.by ?? by, ...(measure && { show: measure }) })}`;
}

/** The address of the list of sessions last active within a span, optionally with one value of a facet. */
export function tracesHref(days: { from: string; to: string }, facet?: Facet, value?: string | null): string {
  const { from, to } = days;
  return `/traces?${new URLSearchParams({ ...(facet && value && { [facet]: value }), from, to })}`;
}
