"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { auth } from "#lib/auth/auth";
import { codeForm, recoveryForm } from "#lib/auth/schema";
import { localPath } from "#lib/http/address";
import type { FormState } from "../../../components/forms/form";
import { authRefusal, collectFieldErrors, refuseForeignOrigin, text } from "../../../components/forms/form-guard";

export async function verifyCodeAction(_before: FormState, form: FormData): Promise<FormState> {
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const parsed = codeForm.safeParse({ code: text(form, "code") });
  if (!parsed.success) return { errors: collectFieldErrors(parsed.error) };
  try {
    const body = { ...parsed.data, trustDevice: form.get("trust") === "on" };
    await auth().api.verifyTOTP({ body, headers: await headers() });
  } catch (refused) {
    return explain(refused, "code");
  }
  openNext(form);
}

export async function verifyRecoveryAction(_before: FormState, form: FormData): Promise<FormState> {
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const parsed = recoveryForm.safeParse({ recovery_code: text(form, "recovery_code") });
  if (!parsed.success) return { errors: collectFieldErrors(parsed.error) };
  try {
    await auth().api.verifyBackupCode({ body: { code: parsed.data.recovery_code }, headers: await headers() });
  } catch (refused) {
    return explain(refused, "recovery_code");
  }
  openNext(form);
}

function openNext(form: FormData): never {
  const next = localPath(text(form, "next"));
  redirect(next === "/" ? "/traces" : next);
}

const tooMany = "Too many wrong codes. ";

/** `deadLink` means that only a new sign-in helps. */
function explain(refused: unknown, field: "code" | "recovery_code"): FormState {
  switch (authRefusal(refused)) {
    case "INVALID_CODE":
      return { errors: { code: "This is not the current code. Wait for the next one." } };
    case "INVALID_BACKUP_CODE":
      return { errors: { recovery_code: "This is not one of your recovery codes, or it was already used." } };
    case "ACCOUNT_TEMPORARILY_LOCKED":
      return { error: `${tooMany}The second step is locked for 15 minutes; then sign in again.` };
    case "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE":
      return { error: `${tooMany}Sign in again.`, deadLink: true };
    case "INVALID_TWO_FACTOR_COOKIE":
      return {
        error: "This sign-in has expired after ten minutes. Sign in again.",
        deadLink: true,
      };
    default:
      return { errors: { [field]: "The code was not accepted. Try again." } };
  }
}
