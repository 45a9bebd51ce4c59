"use server";
import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { endSignIns } from "#lib/auth/sign-in/sign-ins";
import type { FormState } from "../../../components/forms/form";
import { endById, refuseForeignOrigin } from "../../../components/forms/form-guard";

const page = "/settings/sign-ins";

export async function endAction(_before: FormState, form: FormData): Promise<FormState> {
  return endById(form, { page, unknown: "Unknown sign-in." }, async (userId, id, from, { signInId }) => {
    await endSignIns(userId, id, from);
    if (id === signInId) redirect("/sign-in");
  });
}

export async function endOthersAction(): Promise<FormState> {
  const user = await requireUser(page);
  const error = await refuseForeignOrigin();
  if (error) return { error };
  await endSignIns(user.id, { except: user.signInId }, await currentOrigin());
  revalidatePath(page);
  return { done: "Your other browsers were signed out." };
}
