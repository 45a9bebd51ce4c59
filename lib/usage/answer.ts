import "server-only";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { addDays, dayAt, getDayStart } from "#lib/usage/days";
import { countDueTraces } from "#lib/usage/queries";
import { readUsage, type UsageReport } from "#lib/usage/report";
import { type Figures, noFigures, type UsageQuery, type UsageResponse, type ValueFigures } from "#lib/usage/schema";
import { quarterBefore, quarterMs, type Span, spansBetween } from "#lib/usage/spans";

const { maxDays, maxSpans } = limits.usage;
const usualDays = 30;

/** @throws SpoorError `invalid_request` for a range that is empty, too long, or has too many spans */
export async function answerUsage(userId: string, query: UsageQuery, now = new Date()): Promise<UsageResponse> {
  const { from: _, to: __, zone, unit, by, ...filter } = query;
  const spans = getSpans(query, now);
  const request = { spans, facets: by ? [by] : [], by, filter };
  const report = await readUsage(userId, request);
  const pendingSessions = await countDueTraces(userId);
  const { untimed: untimedMessages, uncounted: uncountedMessages, ...total } = report.total;
  const values = by ? report.byFacet[by] : undefined;
  const ofSpans = Map.groupBy(report.bySpan, ({ span }) => span);
  return {
    ok: true,
    from: spans[0]?.start.toISOString() ?? "",
    to: spans.at(-1)?.end.toISOString() ?? "",
    ...{ zone, unit, by: by ?? null, pendingSessions },
    total: { ...total, untimedMessages, uncountedMessages },
    ...(values && { values: values.values.map(omitInternals), otherValues: values.others }),
    spans: spans.map((span, place) => presentSpan(span, report.spanTotals[place], by && (ofSpans.get(place) ?? []))),
  };
}

const omitInternals = ({ value, ...figures }: ValueFigures & { id?: string; names?: string[] }): ValueFigures => {
  const { id: _, names: __, ...rest } = figures;
  return { value, ...rest };
};

function presentSpan(
  { from, to, start, end }: Span,
  total: Figures | undefined,
  values: UsageReport["bySpan"] | undefined,
) {
  return {
    ...{ from, to, start: start.toISOString(), end: end.toISOString() },
    ...(total ?? noFigures()),
    ...(values && { values: values.map(({ span: _, ...value }) => omitInternals(value)) }),
  };
}

/** By default the last 30 days. */
function getSpans({ from, to, zone, unit }: UsageQuery, now: Date): Span[] {
  const isDay = (text: string) => text.length === 10;
  const today = dayAt(now, zone);
  const getStart = (day: string, plus = 0) => Date.parse(getDayStart(day, zone, plus) ?? "");
  const end = to === undefined || isDay(to) ? getStart(to ?? today, 1) : quarterBefore(Date.parse(to) + quarterMs - 1);
  const lastDay = dayAt(new Date(end - 1), zone);
  const start =
    from === undefined || isDay(from)
      ? getStart(from ?? addDays(lastDay, 1 - usualDays))
      : quarterBefore(Date.parse(from));
  if (start >= end) throw refused("from", "must be before `to`");
  if (end - start > (maxDays + 1) * 86_400_000) throw refused("from", `must be at most ${maxDays} days before \`to\``);
  const spans = spansBetween(new Date(start), new Date(end), unit, zone);
  if (spans.length > maxSpans) throw refused("unit", `makes ${spans.length} spans, at most ${maxSpans} are allowed`);
  return spans;
}

const refused = (path: string, message: string) =>
  new SpoorError("invalid_request", undefined, { errors: [{ path, message }] });
