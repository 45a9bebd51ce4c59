import { usedTokens } from "#lib/core/fields";
import type { UsageReport, ValueUsage } from "#lib/usage/report";
import { type Figures, noFigures, type UsageFacet } from "#lib/usage/schema";
import type { Span } from "#lib/usage/spans";
import type { Measure } from "./range";

/** Values shown separately; the rest is summed. */
const maxSeries = 5;

type Series = {
  key: string | null;
  name: string;
  value: string | null;
  names?: string[] | undefined;
  rest: boolean;
  total: number;
};

/** For pull requests and branches, the amounts may exceed the total. */
export type Bar = { span: Span; amounts: number[]; total: number; unfinished: boolean };

export type Chart = { series: Series[]; bars: Bar[]; total: number; top: number };

export const facetTexts: Record<UsageFacet, { title: string; none: string; many: string }> = {
  source: { title: "Agent", none: "no agent", many: "agents" },
  model: { title: "Model", none: "no model", many: "models" },
  project: { title: "Project", none: "no project", many: "projects" },
  machine: { title: "Machine", none: "no machine", many: "machines" },
  branch: { title: "Branch", none: "no branch", many: "branches" },
  pr: { title: "Pull request", none: "no pull request", many: "pull requests" },
};

export type Yardstick = { measure: Measure; read: (figures: Figures) => number };

export function makeYardstick(measure: Measure, total: Figures): Yardstick {
  const reads: Record<Measure, (figures: Figures) => number> = {
    cost: ({ costNano }) => costNano,
    tokens: usedTokens(total, 0) > 0 ? (figures) => usedTokens(figures, 0) : ({ tokenCount }) => tokenCount,
    messages: ({ messages }) => messages,
    sessions: ({ sessions }) => sessions,
  };
  return { measure, read: reads[measure] };
}

export type Ranked = {
  id: string | null;
  name: string;
  value: string | null;
  names?: string[] | undefined;
  amount: number;
};

/** Two projects may have the same name. */
const getShareKey = ({ id, value }: { id?: string; value: string | null }) => id ?? value;

export function ranked(values: ValueUsage[], facet: UsageFacet, { read }: Yardstick): Ranked[] {
  return values
    .map((one) => ({
      ...{ id: getShareKey(one), name: one.value ?? facetTexts[facet].none, value: one.value, names: one.names },
      amount: read(one),
    }))
    .filter(({ amount }) => amount > 0)
    .sort((a, b) => b.amount - a.amount || a.name.localeCompare(b.name, "en"));
}

export function makeChart(
  report: UsageReport,
  spans: Span[],
  facet: UsageFacet,
  yardstick: Yardstick,
  now: Date,
): Chart {
  const { values: all, others: more } = report.byFacet[facet] ?? { values: [], others: 0 };
  const values = ranked(all, facet, yardstick);
  const shown = values.length <= maxSeries + 1 ? values.length : maxSeries;
  const named: Series[] = values
    .slice(0, shown)
    .map(({ id, name, value, names, amount }) => ({ key: id, name, value, names, rest: false, total: amount }));
  const left = values.slice(shown);
  const total = yardstick.read(report.total);
  const known = sum(left.map(({ amount }) => amount));
  // Sessions with several branches or pull requests have no remainder.
  const addsUp = more > 0 && facet !== "branch" && facet !== "pr";
  const others: Series = {
    ...{ key: null, value: null, rest: true },
    name: `${left.length + more} other ${facetTexts[facet].many}`,
    total: addsUp ? Math.max(known, total - sum(named.map((one) => one.total))) : known,
  };
  const series = left.length + more > 0 ? [...named, others] : named;
  const places = new Map(named.map(({ key }, place) => [key, place]));
  const bars = spans.map(
    (span, place): Bar => ({
      span,
      amounts: series.map(() => 0),
      total: yardstick.read(report.spanTotals[place] ?? noFigures()),
      unfinished: span.start <= now && now < span.end,
    }),
  );
  for (const cell of report.bySpan) {
    const bar = bars[cell.span];
    const place = places.get(getShareKey(cell)) ?? named.length;
    const amount = yardstick.read(cell);
    if (!bar || amount === 0) continue;
    bar.amounts[place] = (bar.amounts[place] ?? 0) + amount;
  }
  for (const bar of addsUp ? bars : [])
    bar.amounts[named.length] = Math.max(0, bar.total - sum(bar.amounts.slice(0, named.length)));
  const heights = bars.map(({ amounts }) => sum(amounts));
  return { series, bars, total, top: roundTop(Math.max(...heights)) };
}

const sum = (amounts: number[]): number => amounts.reduce((all, amount) => all + amount, 0);

/** Rounds up to 4, 8, 12, 20, 40 …, which divide into four even steps. */
export function roundTop(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, max / 4)));
  const step = [1, 2, 3, 5, 10].find((factor) => factor * power * 4 >= max) ?? 10;
  return step * power * 4;
}
