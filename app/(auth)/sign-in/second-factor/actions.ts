"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { auth } from "#lib/auth/auth";
import { codeForm, localPath, recoveryForm } from "#lib/auth/schema";
import { authRefusal, faultsOf, refuseStrangers, text } from "../../../components/form-guard";
import type { FormState } from "../../../components/form-state";

/** The second step of a sign-in, with a code of the authenticator app. */
export async function verifyCodeAction(_before: FormState, form: FormData): Promise<FormState> {
  const error = await refuseStrangers();
  if (error) return { error };
  const parsed = codeForm.safeParse({ code: text(form, "code") });
  if (!parsed.success) return { errors: faultsOf(parsed.error) };
  try {
    const body = { ...parsed.data, trustDevice: form.get("trust") === "on" };
    await auth().api.verifyTOTP({ body, headers: await headers() });
  } catch (refused) {
    return explain(refused, "code");
  }
  goOn(form);
}

/** The second step of a sign-in, with one of the recovery codes. */
export async function verifyRecoveryAction(_before: FormState, form: FormData): Promise<FormState> {
  const error = await refuseStrangers();
  if (error) return { error };
  const parsed = recoveryForm.safeParse({ recovery_code: text(form, "recovery_code") });
  if (!parsed.success) return { errors: faultsOf(parsed.error) };
  try {
    await auth().api.verifyBackupCode({ body: { code: parsed.data.recovery_code }, headers: await headers() });
  } catch (refused) {
    return explain(refused, "recovery_code");
  }
  goOn(form);
}

function goOn(form: FormData): never {
  const next = localPath(text(form, "next"));
  redirect(next === "/" ? "/traces" : next);
}

const tooMany = "Too many wrong codes. ";

/** better-auth's refusals in plain words; after a dead link only a new sign-in helps. */
function explain(refused: unknown, field: "code" | "recovery_code"): FormState {
  switch (authRefusal(refused)) {
    case "INVALID_CODE":
      return { errors: { code: "This is not the code of this moment. Wait for the next one." } };
    case "INVALID_BACKUP_CODE":
      return { errors: { recovery_code: "This is none of your recovery codes, or it was used already." } };
    case "ACCOUNT_TEMPORARILY_LOCKED":
      return { error: `${tooMany}The second step is locked for 15 minutes; then sign in again.` };
    case "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE":
      return { error: `${tooMany}Sign in again.`, deadLink: true };
    case "INVALID_TWO_FACTOR_COOKIE":
      return { error: "This sign-in has ended: it waits ten minutes for its code. Sign in again.", deadLink: true };
    default:
      return { errors: { [field]: "It was not accepted. Try again." } };
  }
}
