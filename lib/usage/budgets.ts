import "server-only";
import { prisma } from "#lib/db/client";
import { SpoorError } from "#lib/errors";
import { limits } from "#lib/limits";
import type { BudgetFacet } from "#lib/usage/schema";
import { insertBudget } from "#lib/usage/sql/budgets";

/** What a user means to spend in a month at most; a project's `value` is its id, or its text where it is none of the projects'. */
export type Budget = { facet: BudgetFacet; value: string; amountNano: number };

/** A user's budgets: first the one for all, then by facet and value. */
export async function listBudgets(userId: string): Promise<Budget[]> {
  const rows = await prisma().budget.findMany({
    where: { userId },
    orderBy: [{ facet: "asc" }, { value: "asc" }],
    take: limits.usage.budgets,
  });
  return rows.map(({ facet, value, amountNano }) => ({
    facet: facet as BudgetFacet,
    value,
    amountNano: Number(amountNano),
  }));
}

/** Sets a budget, or changes the one that is there. @throws SpoorError `invalid_request` where the user has too many */
export async function setBudget(userId: string, budget: Budget): Promise<void> {
  const { budgets } = limits.usage;
  if (await insertBudget(userId, budget, budgets)) return;
  throw new SpoorError("invalid_request", `You have ${budgets} budgets. Remove one first.`);
}

/** Removes a budget; one that is not there counts as removed. */
export async function removeBudget(userId: string, { facet, value }: Omit<Budget, "amountNano">): Promise<void> {
  await prisma().budget.deleteMany({ where: { userId, facet, value } });
}
