import type { UsageReport } from "#lib/usage/queries";
import type { Usage } from "#lib/usage/sql";
import type { Facet, Measure, Span } from "./range";

/** The values of a facet that a chart shows separately; one more, without a value, is the sum of the rest. */
const maxSeries = 5;

export type Series = { name: string; value: string | null; rest: boolean; total: number };

/** A bar, with its amounts in the order of the series. */
export type Bar = { span: Span; amounts: number[]; total: number; unfinished: boolean };

export type Chart = { series: Series[]; bars: Bar[]; top: number };

export const facetTexts: Record<Facet, { title: string; none: string; many: string }> = {
  source: { title: "Agent", none: "no agent", many: "agents" },
  model: { title: "Model", none: "no model", many: "models" },
  project: { title: "Project", none: "no project", many: "projects" },
  machine: { title: "Machine", none: "no machine", many: "machines" },
};

type Valued = Usage & { value: string | null };

/** A facet's values, largest first, without those that are zero. */
export function ranked(
  values: Valued[],
  facet: Facet,
  measure: Measure,
): { name: string; value: string | null; amount: number }[] {
  return values
    .map((one) => ({ name: one.value ?? facetTexts[facet].none, value: one.value, amount: one[measure] }))
    .filter(({ amount }) => amount > 0)
    .sort((a, b) => b.amount - a.amount || a.name.localeCompare(b.name, "en"));
}

/**
 * The bars of a report: one a span, stacked of the facet's largest values and the sum of the others.
 *
 * @param now decides which span is not over yet.
 */
export function chartOf(report: UsageReport, spans: Span[], facet: Facet, measure: Measure, now: Date): Chart {
  const values = ranked(report.byFacet[facet], facet, measure);
  // A single remaining value is shown by name: "others" would take the same space.
  const shown = values.length <= maxSeries + 1 ? values.length : maxSeries;
  const named: Series[] = values
    .slice(0, shown)
    .map(({ name, value, amount }) => ({ name, value, rest: false, total: amount }));
  const left = values.slice(shown);
  const others: Series = {
    name: `${left.length} other ${facetTexts[facet].many}`,
    value: null,
    rest: true,
    total: left.reduce((sum, { amount }) => sum + amount, 0),
  };
  const series = left.length > 0 ? [...named, others] : named;
  const places = new Map(named.map(({ value }, place) => [value, place]));
  const bars = spans.map(
    (span): Bar => ({
      span,
      amounts: series.map(() => 0),
      total: 0,
      unfinished: span.start <= now && now < span.end,
    }),
  );
  for (const cell of report.bySpan) {
    const bar = bars[cell.span];
    const place = places.get(cell.value) ?? named.length;
    if (!bar || cell[measure] === 0) continue;
    bar.amounts[place] = (bar.amounts[place] ?? 0) + cell[measure];
    bar.total += cell[measure];
  }
  return { series, bars, top: roundTop(Math.max(...bars.map(({ total }) => total))) };
}

/** The top of an axis from zero with four even steps: the next of 4, 8, 12, 20, 40 … above a number. */
export function roundTop(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, max / 4)));
  const step = [1, 2, 3, 5, 10].find((factor) => factor * power * 4 >= max) ?? 10;
  return step * power * 4;
}
