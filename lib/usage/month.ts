import "server-only";
import { heavyRead } from "#lib/db/heavy";
import { getModelFamily } from "#lib/prices/model";
import { type Budget, listBudgets } from "#lib/usage/budgets";
import { dayAt } from "#lib/usage/days";
import { isId, readProjectNames } from "#lib/usage/project-names";
import { getBoundaries, getLastOfMonth, listSpans } from "#lib/usage/spans";
import { readGone, readReport, readSpending, type Spending } from "#lib/usage/sql/report";

export type BudgetState = Budget & { name: string; spentNano: number };

export type MonthSpending = {
  /** Its first day, today and its last day. */
  from: string;
  today: string;
  to: string;
  spentNano: number;
  /** How many of its days are over, and what was spent on them. */
  fullDays: number;
  forecastNano: number | undefined;
  budgets: BudgetState[];
};

/** Fewer days say little of the rest of a month. */
export const leastDays = 7;

/** What the month in which a moment is, in a zone, has cost so far, what it may cost, and what is left of the budgets. */
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
      const rows = await readReport(tx, userId, { ...none, starts, spans: { by: undefined, wanted: ["cost_nano"] } });
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
      name: names.get(budget.value) ?? (isProjectId(budget) ? "a project that is gone" : budget.value),
      spentNano: spentOn(budget, read.spending),
    })),
  };
}

const isProjectId = ({ facet, value }: Budget) => facet === "project" && isId(value);

/**
 * What a month will have cost if its other days cost as much as those that are over did on average. Today counts as it is, or as
 * such a day, whichever is more.
 */
export function forecast(fullDays: number, before: number, spent: number, monthDays: number): number | undefined {
  if (fullDays < leastDays || spent === 0) return undefined;
  const perDay = before / fullDays;
  return Math.round(before + Math.max(spent - before, perDay) + perDay * (monthDays - fullDays - 1));
}

/** How a budget stands: from 80 % on it is nearly used, at 100 % used up. */
export type BudgetMark = "over" | "used up" | "nearly" | undefined;

export function budgetMark(spentNano: number, amountNano: number): BudgetMark {
  if (spentNano > amountNano) return "over";
  if (spentNano === amountNano) return "used up";
  return spentNano / amountNano >= budgetMarks[0] ? "nearly" : undefined;
}

/** The shares of a budget that have a mark. */
export const budgetMarks = [0.8, 1] as const;

function spentOn({ facet, value }: Budget, spending: Spending[]): number {
  const counts = (one: Spending) =>
    facet === "" ||
    (facet === "model" ? one.model !== null && getModelFamily(one.model) === value : one[facet] === value);
  return spending.filter(counts).reduce((sum, { costNano }) => sum + costNano, 0);
}
