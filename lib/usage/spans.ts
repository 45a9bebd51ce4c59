// The spans of time that usage is counted in, and the days of UTC that they consist of. Pure.
import { addDays, dayAt, startOfDay } from "#lib/usage/days";
import type { Unit } from "#lib/usage/schema";

/** A span's first and last day, and the moments at which it begins and ends. */
export type Span = { from: string; to: string; start: Date; end: Date };

/**
 * The spans of a unit from one day to another, both included, in a zone. Weeks are from Monday to Sunday.
 *
 * @throws RangeError beyond the year 9999, whose days come before all others as text
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

/** The spans of a unit between two moments, in whole quarters of an hour; the first and the last are what there is of them. */
export function spansBetween(start: Date, end: Date, unit: Unit, zone: string): Span[] {
  const spans = listSpans(dayAt(start, zone), dayAt(new Date(end.getTime() - 1), zone), unit, zone);
  return spans.map((span) => ({
    ...span,
    start: span.start < start ? start : span.start,
    end: span.end > end ? end : span.end,
  }));
}

/** The start of each span, followed by the end of the last. */
export const getBoundaries = (spans: Span[]): Date[] => [
  ...spans.map(({ start }) => start),
  ...spans.slice(-1).map(({ end }) => end),
];

function getLastDay(unit: Unit, first: string, to: string): string {
  if (unit === "total") return to;
  if (unit === "week") return addDays(first, (7 - new Date(`${first}T00:00:00Z`).getUTCDay()) % 7);
  return unit === "month" ? getLastOfMonth(first) : first;
}

/** The last day of a day's month. */
export function getLastOfMonth(day: string): string {
  const [year, month] = [Number(day.slice(0, 4)), Number(day.slice(5, 7))];
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

const earlier = (one: string, other: string) => (one < other ? one : other);

function startIn(zone: string, date: string): Date {
  const start = startOfDay(date, zone);
  if (!start) throw new Error(`${date} is no day`);
  return new Date(quarterBefore(Date.parse(start)));
}

/** A day of UTC and the span that it is counted in as a whole: 1 for the first, 0 or one more than there are for none. */
export type WholeDay = { day: string; span: number };
/**
 * A part of a day of UTC that several spans share: the quarters of an hour from `starts` up to `ends` are in `span`, the day as a
 * whole counts in `whole`.
 */
export type Part = { day: string; starts: number; ends: number; span: number; whole: number };

const dayMs = 86_400_000;
const quarterMs = 900_000;

/** The start of the quarter of an hour that a moment is in: offsets of a zone's past have minutes of their own. */
export const quarterBefore = (moment: number): number => Math.floor(moment / quarterMs) * quarterMs;

/**
 * Divides spans into days of UTC. A day that several spans share is counted as a whole in the one that has most of it; what is in
 * its other parts is to be taken from that one and given to their own: of a zone an hour ahead of UTC, one hour in 24 is read
 * anew, not the day.
 */
export function divide(starts: Date[]): { days: WholeDay[]; parts: Part[] } {
  const cuts = starts.map((start) => start.getTime());
  const [first = 0, last = 0] = [cuts[0], cuts.at(-1)];
  const days: WholeDay[] = [];
  const parts: Part[] = [];
  let passed = 0;
  for (let at = Math.floor(first / dayMs) * dayMs; at < last; at += dayMs) {
    while (passed < cuts.length && (cuts[passed] ?? 0) <= at) passed += 1;
    const inside: number[] = [];
    for (let next = passed; next < cuts.length && (cuts[next] ?? 0) < at + dayMs; next += 1)
      inside.push(((cuts[next] ?? 0) - at) / quarterMs);
    const ends = [...inside, dayMs / quarterMs];
    const own = ends.map((end, place) => ({ starts: ends[place - 1] ?? 0, ends: end, span: passed + place }));
    const main = own.reduce((longest, part) =>
      part.ends - part.starts > longest.ends - longest.starts ? part : longest,
    );
    const day = new Date(at).toISOString().slice(0, 10);
    days.push({ day, span: main.span });
    if (inside.length > 0) parts.push(...own.map((part) => ({ day, ...part, whole: main.span })));
  }
  return { days, parts };
}
