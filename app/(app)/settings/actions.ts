"use server";
import { revalidatePath } from "next/cache";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { requireUser } from "#lib/auth/guards";
import { weakPassword } from "#lib/auth/passwords";
import { nameForm, newPasswordForm } from "#lib/auth/schema";
import { logOutMachines } from "#lib/auth/tokens";
import { authRefusal, errorsOf, passwordError, refuseForeignOrigin, text } from "../../components/form-guard";
import type { FormState } from "../../components/form-state";

/** Changes the name of the account. */
export async function renameAction(_before: FormState, form: FormData): Promise<FormState> {
  await requireUser("/settings");
  const values = { name: text(form, "name") };
  const error = await refuseForeignOrigin();
  if (error) return { values, error };
  const parsed = nameForm.safeParse(values);
  if (!parsed.success) return { values, errors: errorsOf(parsed.error) };
  await auth().api.updateUser({ body: parsed.data, headers: await headers() });
  revalidatePath("/", "layout");
  return { done: "Your name was changed." };
}

/** Changes the password and signs out every other browser; on request the machines as well. */
export async function changePasswordAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/settings");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const values = { revoke_tokens: text(form, "revoke_tokens") };
  const given = { current_password: text(form, "current_password"), new_password: text(form, "new_password") };
  const parsed = newPasswordForm.safeParse(given);
  if (!parsed.success) return { values, errors: errorsOf(parsed.error) };
  const { current_password: currentPassword, new_password: newPassword } = parsed.data;
  const wrong = await passwordError(user.id, currentPassword);
  if (wrong) return { values, errors: { current_password: wrong } };
  try {
    const body = { currentPassword, newPassword, revokeOtherSessions: true };
    await auth().api.changePassword({ body, headers: await headers() });
  } catch (refused) {
    const tooWeak = authRefusal(refused) === weakPassword && refused instanceof Error;
    if (tooWeak) return { values, errors: { new_password: refused.message } };
    return { values, error: "The password was not changed. Try again." };
  }
  if (values.revoke_tokens) await logOutMachines(user.id, await currentOrigin());
  redirect(`/settings?changed=${values.revoke_tokens ? "password-and-machines" : "password"}`); // so that the next request carries the new cookie
}
