import { formatCount, formatQuantity } from "../../components/values/figures";
import { formatMoney, formatMoneyAxis, formatMoneyShort } from "../../components/values/money";
import type { Measure, UsageRequest } from "./range";
import type { Chart } from "./shape";

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** "91M", "412", "$1.2K" */
export const shortAmount = (amount: number, measure: Measure) =>
  measure === "cost" ? formatMoneyShort(amount) : compact.format(amount);

export const axisAmounts = (amounts: number[], measure: Measure): string[] =>
  measure === "cost" ? formatMoneyAxis(amounts) : amounts.map((amount) => compact.format(amount));

/** "41M tokens", "1 session", "$1.23" */
export const formatAmount = (amount: number, measure: Measure) => {
  if (measure === "cost") return formatMoney(amount);
  return amount >= 10_000 ? `${compact.format(amount)} ${measure}` : formatQuantity(amount, measure.slice(0, -1));
};

/** "41,234,567 tokens" */
export const exactAmount = (amount: number, measure: Measure) =>
  measure === "cost" ? formatMoney(amount) : `${formatCount(amount)} ${measure}`;

const utc = { timeZone: "UTC" } as const;
const dayFormat = new Intl.DateTimeFormat("en-GB", { ...utc, day: "numeric", month: "short" });
const yearFormat = new Intl.DateTimeFormat("en-GB", { ...utc, day: "numeric", month: "short", year: "numeric" });

export const dayText = (day: string, withYear = false) => (withYear ? yearFormat : dayFormat).format(new Date(day));

/** "3 Mar", "3 to 9 Mar" for a week */
export function spanText({ from, to }: { from: string; to: string }): string {
  if (from === to) return dayText(from);
  const sameMonth = from.slice(0, 7) === to.slice(0, 7);
  return `${sameMonth ? Number(from.slice(8)) : dayText(from)} to ${dayText(to)}`;
}

/** Never 0% or 100% unless exact. */
export function percent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  if (share > 0 && share < 0.5) return "<1%";
  return share > 99 && share < 100 ? ">99%" : `${Math.round(share)}%`;
}

export function describeFinding({ series, bars, total }: Chart, { unit }: UsageRequest, measure: Measure): string {
  const best = bars.reduce((highest, bar) => (bar.total > highest.total ? bar : highest));
  const peak = `Peak ${unit}: ${spanText(best.span)}, ${formatAmount(best.total, measure)}`;
  const first = series.find(({ value }) => value !== null);
  if (!first || series.length === 1) return peak;
  return `${peak} · ${first.name}: ${percent(first.total, total)} of ${measure}`;
}
