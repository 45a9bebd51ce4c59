import "server-only";
import { heavyRead } from "#lib/db/heavy";
import { getModelFamily } from "#lib/prices/model";
import { type Budget, listBudgets } from "#lib/usage/budgets";
import { dayAt } from "#lib/usage/days";
import { isId, readProjectNames } from "#lib/usage/queries";
import { getBoundaries, getLastOfMonth, listSpans } from "#lib/usage/spans";
import { readGone } from "#lib/usage/sql/quarters";
import { readReport, readSpending, type Spending } from "#lib/usage/sql/report";

export type BudgetState = Budget & { name: string; spentNano: number };

export type MonthSpending = {
  from: string;
  today: string;
  to: string;
  spentNano: number;
  /** Days that are over. */
  fullDays: number;
  forecastNano: number | undefined;
  budgets: BudgetState[];
};

/** With fewer days there is no forecast. */
export const leastDays = 7;

export async function readMonth(userId: string, zone: string, now: Date): Promise<MonthSpending> {
  const today = dayAt(now, zone);
  const from = `${today.slice(0, 8)}01`;
  const to = getLastOfMonth(today);
  const days = listSpans(from, today, "day", zone);
  const whole = getBoundaries(listSpans(from, today, "total", zone));
  const [budgets, read] = await Promise.all([
    listBudgets(userId),
    heavyRead(userId, async (tx) => {
      const gone = await readGone(tx, userId);
      const starts = [...whole.slice(0, 1), ...(days.length > 1 ? [days.at(-1)?.start ?? now] : []), ...whole.slice(1)];
      const none = { gone, facets: [], maxValues: 1, filter: {} };
      const rows = await readReport(tx, userId, { ...none, starts, spans: { by: undefined } });
      return { rows, spending: await readSpending(tx, userId, whole, gone) };
    }),
  ]);
  const getCost = (span: number | null) => read.rows.find((row) => row.span === span)?.cost_nano ?? 0;
  const fullDays = days.length - 1;
  const spentNano = getCost(null);
  const projects = budgets.flatMap(({ facet, value }) => (facet === "project" ? [value] : []));
  const names = await readProjectNames(userId, projects);
  return {
    ...{ from, today, to, spentNano, fullDays },
    forecastNano: forecast(fullDays, fullDays === 0 ? 0 : getCost(0), spentNano, Number(to.slice(8))),
    budgets: budgets.map((budget) => ({
      ...budget,
      name: names.get(budget.value) ?? (isProjectId(budget) ? "a deleted project" : budget.value),
      spentNano: spentOn(budget, read.spending),
    })),
  };
}

const isProjectId = ({ facet, value }: Budget) => facet === "project" && isId(value);

/** Assumes the average of the days that are over; today counts as that or as spent, whichever is more. */
export function forecast(fullDays: number, before: number, spent: number, monthDays: number): number | undefined {
  if (fullDays < leastDays || spent === 0) return undefined;
  const perDay = before / fullDays;
  return Math.round(before + Math.max(spent - before, perDay) + perDay * (monthDays - fullDays - 1));
}

export type BudgetMark = "over" | "used up" | "nearly" | undefined;

export function budgetMark(spentNano: number, amountNano: number): BudgetMark {
  if (spentNano > amountNano) return "over";
  if (spentNano === amountNano) return "used up";
  return spentNano / amountNano >= budgetMarks[0] ? "nearly" : undefined;
}

/** Shares of a budget from which `budgetMark` reports it. */
export const budgetMarks = [0.8, 1] as const;

function spentOn({ facet, value }: Budget, spending: Spending[]): number {
  const counts = (one: Spending) =>
    facet === "" ||
    (facet === "model" ? one.model !== null && getModelFamily(one.model) === value : one[facet] === value);
  return spending.filter(counts).reduce((sum, { costNano }) => sum + costNano, 0);
}
