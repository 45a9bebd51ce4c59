"use server";
import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { idForm } from "#lib/auth/schema";
import { endSignIns } from "#lib/auth/sign-ins";
import { askFirst, refuseForeignOrigin, text } from "../../../components/form-guard";
import type { FormState } from "../../../components/form";

const page = "/settings/sign-ins";

export async function endAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser(page);
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const parsed = idForm.safeParse({ id: text(form, "id") });
  if (!parsed.success) return { error: "Unknown sign-in." };
  const question = askFirst(form);
  if (question) return question;
  await endSignIns(user.id, parsed.data.id, await currentOrigin());
  if (parsed.data.id === user.signInId) redirect("/sign-in");
  revalidatePath(page);
  return {};
}

export async function endOthersAction(): Promise<FormState> {
  const user = await requireUser(page);
  const error = await refuseForeignOrigin();
  if (error) return { error };
  await endSignIns(user.id, { except: user.signInId }, await currentOrigin());
  revalidatePath(page);
  return { done: "Your other browsers were signed out." };
}
