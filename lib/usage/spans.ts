import { addDays, dayAt, getDayStart } from "#lib/usage/days";
import type { Unit } from "#lib/usage/schema";

export type Span = { from: string; to: string; start: Date; end: Date };

/**
 * Both days are inclusive; weeks start on Monday.
 * @throws RangeError beyond the year 9999, whose days don't sort as text
 */
export function listSpans(from: string, to: string, unit: Unit, zone: string): Span[] {
  const spans: Span[] = [];
  for (let first = from; first <= to; ) {
    const last = earlier(getLastDay(unit, first, to), to);
    spans.push({ from: first, to: last, start: startIn(zone, first), end: startIn(zone, addDays(last, 1)) });
    first = addDays(last, 1);
    if (first < last) throw new RangeError(`the day after ${last} can't be compared`);
  }
  return spans;
}

/** The first and last spans may be partial. */
export function spansBetween(start: Date, end: Date, unit: Unit, zone: string): Span[] {
  const spans = listSpans(dayAt(start, zone), dayAt(new Date(end.getTime() - 1), zone), unit, zone);
  return spans.map((span) => ({
    ...span,
    start: span.start < start ? start : span.start,
    end: span.end > end ? end : span.end,
  }));
}

export const getBoundaries = (spans: Span[]): Date[] => [
  ...spans.map(({ start }) => start),
  ...spans.slice(-1).map(({ end }) => end),
];

function getLastDay(unit: Unit, first: string, to: string): string {
  if (unit === "total") return to;
  if (unit === "week") return addDays(first, (7 - new Date(`${first}T00:00:00Z`).getUTCDay()) % 7);
  return unit === "month" ? getLastOfMonth(first) : first;
}

export function getLastOfMonth(day: string): string {
  const [year, month] = [Number(day.slice(0, 4)), Number(day.slice(5, 7))];
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

const earlier = (one: string, other: string) => (one < other ? one : other);

function startIn(zone: string, date: string): Date {
  const start = getDayStart(date, zone);
  if (!start) throw new Error(`${date} is no day`);
  return new Date(quarterBefore(Date.parse(start)));
}

export const quarterMs = 900_000;

/** Rounds down, since historic offsets of zones are not whole quarters of an hour. */
export const quarterBefore = (moment: number): number => Math.floor(moment / quarterMs) * quarterMs;
