"use server";
import { revalidatePath } from "next/cache";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { z } from "zod";
import { currentOrigin } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { requireUser, type SignedInUser } from "#lib/auth/guards";
import { findWeakness } from "#lib/auth/passwords/passwords";
import { nameForm, newPasswordForm } from "#lib/auth/schema";
import { logOutMachines } from "#lib/auth/tokens";
import type { FormState } from "../../components/forms/form";
import {
  authRefusal,
  codeError,
  collectFieldErrors,
  passwordError,
  refuseForeignOrigin,
  text,
} from "../../components/forms/form-guard";

export async function renameAction(_before: FormState, form: FormData): Promise<FormState> {
  await requireUser("/settings");
  const values = { name: text(form, "name") };
  const error = await refuseForeignOrigin();
  if (error) return { values, error };
  const parsed = nameForm.safeParse(values);
  if (!parsed.success) return { values, errors: collectFieldErrors(parsed.error) };
  await auth().api.updateUser({ body: parsed.data, headers: await headers() });
  revalidatePath("/", "layout");
  return { done: "Your name was changed." };
}

/** Checks the second factor last, since checking spends its code. */
async function refuseChange(
  user: SignedInUser,
  given: z.output<typeof newPasswordForm>,
  code: string,
): Promise<FormState["errors"]> {
  if (user.twoFactorEnabled && code === "") return { current_code: "Enter your code." };
  const weakness = await findWeakness(given.new_password, user);
  if (weakness) return { new_password: weakness };
  const wrong = await passwordError(user.id, given.current_password);
  if (wrong) return { current_password: wrong };
  const wrongCode = user.twoFactorEnabled ? await codeError(user.id, code) : undefined;
  return wrongCode === undefined ? undefined : { current_code: wrongCode };
}

/** Also signs out every other browser, and the machines on request. */
export async function changePasswordAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/settings");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const values = { revoke_tokens: text(form, "revoke_tokens") };
  const given = { current_password: text(form, "current_password"), new_password: text(form, "new_password") };
  const parsed = newPasswordForm.safeParse(given);
  if (!parsed.success) return { values, errors: collectFieldErrors(parsed.error) };
  const errors = await refuseChange(user, parsed.data, text(form, "current_code"));
  if (errors) return { values, errors };
  const { current_password: currentPassword, new_password: newPassword } = parsed.data;
  try {
    const body = { currentPassword, newPassword, revokeOtherSessions: true };
    await auth().api.changePassword({ body, headers: await headers() });
  } catch (refused) {
    authRefusal(refused);
    return { values, error: "The password was not changed. Try again." };
  }
  if (values.revoke_tokens) await logOutMachines(user.id, await currentOrigin());
  redirect(`/settings?changed=${values.revoke_tokens ? "password-and-machines" : "password"}`); // so that the next request carries the new cookie
}
