"use server";
import { revalidatePath } from "next/cache";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { configuredProviders } from "#lib/auth/providers";
import { nameForm, newPasswordForm } from "#lib/auth/schema";
import { requireUser } from "#lib/auth/session";
import { logOutMachines } from "#lib/auth/tokens";
import { authRefusal, faultsOf, passwordFault, refuseStrangers, text } from "../../components/form-guard";
import type { FormState } from "../../components/form-state";
import type { ProviderState } from "../../components/provider-form";

/** Changes the name of the account. */
export async function renameAction(_before: FormState, form: FormData): Promise<FormState> {
  await requireUser("/settings");
  const values = { name: text(form, "name") };
  const error = await refuseStrangers();
  if (error) return { values, error };
  const parsed = nameForm.safeParse(values);
  if (!parsed.success) return { values, errors: faultsOf(parsed.error) };
  await auth().api.updateUser({ body: parsed.data, headers: await headers() });
  revalidatePath("/", "layout");
  return { done: "Your name was changed." };
}

/** Changes the password and signs every other browser out; where asked to, the machines as well. */
export async function changePasswordAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/settings");
  const error = await refuseStrangers();
  if (error) return { error };
  const values = { revoke_tokens: text(form, "revoke_tokens") };
  const given = { current_password: text(form, "current_password"), new_password: text(form, "new_password") };
  const parsed = newPasswordForm.safeParse(given);
  if (!parsed.success) return { values, errors: faultsOf(parsed.error) };
  const { current_password: currentPassword, new_password: newPassword } = parsed.data;
  const fault = await passwordFault(user.id, currentPassword);
  if (fault) return { values, errors: { current_password: fault } };
  try {
    const body = { currentPassword, newPassword, revokeOtherSessions: true };
    await auth().api.changePassword({ body, headers: await headers() });
  } catch (refused) {
    authRefusal(refused);
    return { values, error: "The password was not changed. Try again." };
  }
  if (values.revoke_tokens) await logOutMachines(user.id, await currentOrigin());
  redirect(`/settings?changed=${values.revoke_tokens ? "password-and-machines" : "password"}`); // in a request of its own, which bears the new session's cookie
}

/** Begins to connect a provider; its own pages go on. */
export async function connectAction(_before: ProviderState, form: FormData): Promise<ProviderState> {
  await requireUser("/settings");
  const error = await refuseStrangers();
  if (error) return { error };
  const provider = text(form, "provider");
  if (!(provider in configuredProviders())) return { error: "This server does not offer that." };
  const body = { provider, callbackURL: "/settings", errorCallbackURL: "/settings", disableRedirect: true };
  const { url } = await auth().api.linkSocialAccount({ body, headers: await headers() });
  return { url };
}
