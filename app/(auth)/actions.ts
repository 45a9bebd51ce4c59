"use server";
import { redirect } from "next/navigation";
import type { z } from "zod";
import { createOwner, signUp } from "#lib/auth/accounts";
import { currentOrigin } from "#lib/auth/audit";
import { accountForm, signInForm } from "#lib/auth/schema";
import { SpoorError } from "#lib/core/errors";
import { localPath } from "#lib/http/address";
import type { FormState } from "../components/forms/form";
import { collectFieldErrors, refuseForeignOrigin, text } from "../components/forms/form-guard";
import { signInWithPassword } from "./password-sign-in";

/** The error does not say which of the two was wrong. */
export async function signInAction(_before: FormState, form: FormData): Promise<FormState> {
  const values = { email: text(form, "email"), remember: text(form, "remember") };
  const foreign = await refuseForeignOrigin();
  if (foreign) return { values, error: foreign };
  const parsed = signInForm.safeParse({ ...values, password: text(form, "password") });
  if (!parsed.success) return { values, errors: collectFieldErrors(parsed.error) };
  const next = localPath(text(form, "next"));
  const { error, secondFactor } = await signInWithPassword({ ...parsed.data, rememberMe: values.remember === "on" });
  if (error) return { values, error };
  if (secondFactor) redirect(`/sign-in/second-factor?next=${encodeURIComponent(next)}`);
  redirect(next === "/" ? "/traces" : next);
}

export async function setUpAction(_before: FormState, form: FormData): Promise<FormState> {
  const from = await currentOrigin();
  return openAccount(form, (account) => createOwner(text(form, "token"), account, from));
}

export async function signUpAction(_before: FormState, form: FormData): Promise<FormState> {
  const from = await currentOrigin();
  return openAccount(form, (account) => signUp(account, text(form, "invitation") || undefined, from));
}

async function openAccount(
  form: FormData,
  create: (account: z.output<typeof accountForm>) => Promise<void>,
): Promise<FormState> {
  const values = { name: text(form, "name"), email: text(form, "email") };
  const foreign = await refuseForeignOrigin();
  if (foreign) return { values, error: foreign };
  const parsed = accountForm.safeParse({ ...values, password: text(form, "password") });
  if (!parsed.success) return { values, errors: collectFieldErrors(parsed.error) };
  try {
    await create(parsed.data);
  } catch (error) {
    if (!(error instanceof SpoorError)) throw error;
    if (error.code === "access_denied") return { values, error: error.message, deadLink: true };
    if (error.code !== "invalid_request") return { values, error: error.message };
    return { values, errors: Object.fromEntries(error.errors?.map(({ path, message }) => [path, message]) ?? []) };
  }
  if ((await signInWithPassword({ ...parsed.data, rememberMe: false })).error) redirect("/sign-in");
  redirect("/traces");
}
