import "server-only";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import type { BudgetFacet } from "#lib/usage/schema";
import { insertBudget } from "#lib/usage/sql/report";

/** A monthly limit. A project's `value` is its id, or a text without a project. */
export type Budget = { facet: BudgetFacet; value: string; amountNano: number };

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

/** @throws SpoorError `invalid_request` if the user has too many budgets */
export async function setBudget(userId: string, budget: Budget): Promise<void> {
  const { budgets } = limits.usage;
  if (await insertBudget(userId, budget, budgets)) return;
  throw new SpoorError("invalid_request", `You have ${budgets} budgets. Remove one first.`);
}

/** Also succeeds if there is no such budget. */
export async function removeBudget(userId: string, { facet, value }: Omit<Budget, "amountNano">): Promise<void> {
  await prisma().budget.deleteMany({ where: { userId, facet, value } });
}
