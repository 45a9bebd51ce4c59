import "server-only";
import { pool, prisma } from "#lib/db/client";
import { SpoorError } from "#lib/errors";
import { limits } from "#lib/limits";
import type { BudgetFacet } from "#lib/usage/schema";

/** A monthly limit. A project's `value` is its id, or its text if it is no project's. */
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
export async function setBudget(userId: string, { facet, value, amountNano }: Budget): Promise<void> {
  const { budgets } = limits.usage;
  // SQL: one statement, so that concurrent requests don't exceed the limit.
  const { rowCount } = await pool().query(
    `insert into budget (user_id, facet, value, amount_nano, updated_at)
     select $1::uuid, $2::text, $3::text, $4::bigint, $6::timestamptz
     where exists (select 1 from budget where user_id = $1::uuid and facet = $2 and value = $3)
       or (select count(*) from budget where user_id = $1::uuid) < $5
     on conflict (user_id, facet, value) do update set amount_nano = excluded.amount_nano, updated_at = excluded.updated_at`,
    [userId, facet, value, amountNano, budgets, new Date()],
  );
  if (rowCount !== 1) throw new SpoorError("invalid_request", `You have ${budgets} budgets. Remove one first.`);
}

/** Also succeeds if there is no such budget. */
export async function removeBudget(userId: string, { facet, value }: Omit<Budget, "amountNano">): Promise<void> {
  await prisma().budget.deleteMany({ where: { userId, facet, value } });
}
