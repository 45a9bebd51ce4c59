"use server";
import { redirect } from "next/navigation";
import type { z } from "zod";
import { createOwner, signUp } from "#lib/auth/accounts";
import { currentOrigin } from "#lib/auth/audit";
import { accountForm, localPath, signInForm } from "#lib/auth/schema";
import { SpoorError } from "#lib/errors";
import { faultsOf, refuseStrangers, text } from "../components/form-guard";
import type { FormState } from "../components/form-state";
import { enterSession } from "./session";

/** Signs in with an address and a password; a wrong one is not told from an unknown other. */
export async function signInAction(_before: FormState, form: FormData): Promise<FormState> {
  const values = { email: text(form, "email") };
  const stranger = await refuseStrangers();
  if (stranger) return { values, error: stranger };
  const parsed = signInForm.safeParse({ ...values, password: text(form, "password") });
  if (!parsed.success) return { values, errors: faultsOf(parsed.error) };
  const next = localPath(text(form, "next"));
  const { error, secondFactor } = await enterSession(parsed.data);
  if (error) return { values, error };
  if (secondFactor) redirect(`/sign-in/second-factor?next=${encodeURIComponent(next)}`);
  redirect(next === "/" ? "/traces" : next);
}

/** Makes the server's first account and signs in with it. */
export async function setUpAction(_before: FormState, form: FormData): Promise<FormState> {
  const from = await currentOrigin();
  return openAccount(form, (account) => createOwner(text(form, "token"), account, from));
}

/** Makes a member's account by an invitation, or where the operator lets everybody in, and signs in with it. */
export async function signUpAction(_before: FormState, form: FormData): Promise<FormState> {
  const from = await currentOrigin();
  return openAccount(form, (account) => signUp(account, text(form, "invitation") || undefined, from));
}

async function openAccount(
  form: FormData,
  create: (account: z.output<typeof accountForm>) => Promise<void>,
): Promise<FormState> {
  const values = { name: text(form, "name"), email: text(form, "email") };
  const stranger = await refuseStrangers();
  if (stranger) return { values, error: stranger };
  const parsed = accountForm.safeParse({ ...values, password: text(form, "password") });
  if (!parsed.success) return { values, errors: faultsOf(parsed.error) };
  try {
    await create(parsed.data);
  } catch (error) {
    if (!(error instanceof SpoorError)) throw error;
    if (error.code === "access_denied") return { values, error: error.message, deadLink: true };
    return { values, errors: Object.fromEntries(error.errors?.map(({ path, message }) => [path, message]) ?? []) };
  }
  if ((await enterSession(parsed.data)).error) redirect("/sign-in");
  redirect("/traces");
}
