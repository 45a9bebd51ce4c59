"use server";
import { revalidatePath } from "next/cache";
import { requireUser } from "#lib/auth/guards";
import { removeBudget, setBudget } from "#lib/usage/budgets";
import { budgetForm, budgetKey } from "#lib/usage/schema";
import type { FormState } from "../../components/forms/form";
import { collectFieldErrors, refuseForeignOrigin, text, toFormState } from "../../components/forms/form-guard";

const nano = 1_000_000_000;

export async function setBudgetAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/usage");
  const values = { amount: text(form, "amount") };
  const error = await refuseForeignOrigin();
  if (error) return { values, error };
  const parsed = budgetForm.safeParse({ ...values, of: text(form, "of") });
  if (!parsed.success) return { values, errors: collectFieldErrors(parsed.error) };
  const { of, amount } = parsed.data;
  try {
    await setBudget(user.id, { ...of, amountNano: Math.round(amount * nano) });
  } catch (refused) {
    return { values, ...toFormState(refused) };
  }
  revalidatePath("/usage");
  return { done: "The budget is set." };
}

/** Removing a removed budget succeeds. */
export async function removeBudgetAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/usage");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const parsed = budgetKey.safeParse({ facet: text(form, "facet"), value: text(form, "value") });
  if (!parsed.success) return { error: "Unknown budget." };
  await removeBudget(user.id, parsed.data);
  revalidatePath("/usage");
  return {};
}
