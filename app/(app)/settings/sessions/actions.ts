"use server";
import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { idForm } from "#lib/auth/schema";
import { requireUser } from "#lib/auth/session";
import { revokeSessions } from "#lib/auth/sessions";
import { refuseStrangers, text } from "../../../components/form-guard";
import type { FormState } from "../../../components/form-state";

const page = "/settings/sessions";

/** Signs one browser out. */
export async function endAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser(page);
  const error = await refuseStrangers();
  if (error) return { error };
  const parsed = idForm.safeParse({ id: text(form, "id") });
  if (!parsed.success) return { error: "This session is not known." };
  await revokeSessions(user.id, parsed.data.id, await currentOrigin());
  if (parsed.data.id === user.sessionId) redirect("/sign-in");
  revalidatePath(page);
  return {};
}

/** Signs every browser out but this one. */
export async function endOthersAction(): Promise<FormState> {
  const user = await requireUser(page);
  const error = await refuseStrangers();
  if (error) return { error };
  await revokeSessions(user.id, { except: user.sessionId }, await currentOrigin());
  revalidatePath(page);
  return { done: "Your other browsers were signed out." };
}
