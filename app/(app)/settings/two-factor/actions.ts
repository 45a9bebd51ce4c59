"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { renderSVG } from "uqr";
import { auth } from "#lib/auth/auth";
import { requireUser } from "#lib/auth/guards";
import { codeForm, passwordForm } from "#lib/auth/schema";
import { authRefusal, errorsOf, passwordError, refuseForeignOrigin, text } from "../../../components/form-guard";
import type { FormState } from "../../../components/form-state";

/** What an authenticator app needs, and the recovery codes. */
export type Enrolment = { picture: string; secret: string; codes: string[] };
export type EnrolmentState = FormState & { enrolment?: Enrolment | undefined };
export type CodesState = FormState & { codes?: string[] };

const page = "/settings/two-factor";

/**
 * Turns two-factor authentication on in two steps: the password returns the secret, then a code proves that an app has it.
 * One action for both, because without script the first answer is kept only in that form's state.
 */
export async function switchOnAction(before: EnrolmentState, form: FormData): Promise<EnrolmentState> {
  const user = await requireUser(page);
  const { enrolment } = before;
  const error = await refuseForeignOrigin();
  if (error) return { enrolment, error };
  if (form.has("code")) return confirm(enrolment, text(form, "code"));
  const checked = await checkPassword(user.id, form);
  if (checked.errors) return checked;
  try {
    const body = { password: checked.password };
    const answer = await auth().api.enableTwoFactor({ body, headers: await headers() });
    if (answer.method !== "totp") return { error: "This server does not support this second factor." };
    return { enrolment: describe(answer.totpURI, answer.backupCodes) };
  } catch (refused) {
    authRefusal(refused);
    redirect(page); // another tab has turned it on already
  }
}

async function confirm(enrolment: Enrolment | undefined, typed: string): Promise<EnrolmentState> {
  const parsed = codeForm.safeParse({ code: typed });
  if (!parsed.success) return { enrolment, errors: errorsOf(parsed.error) };
  try {
    await auth().api.verifyTOTP({ body: parsed.data, headers: await headers() });
  } catch (refused) {
    const code = authRefusal(refused);
    if (code !== "INVALID_CODE") return { error: "Start again: this set-up has expired." };
    return { enrolment, errors: { code: "This is not the current code. Wait for the next one." } };
  }
  redirect(`${page}?on=1`);
}

function describe(uri: string, codes: string[]): Enrolment {
  const secret = new URL(uri).searchParams.get("secret") ?? "";
  const picture = `data:image/svg+xml;utf8,${encodeURIComponent(renderSVG(uri, { border: 2 }))}`;
  return { picture, secret, codes };
}

/** Turns two-factor authentication off, or creates new recovery codes, depending on the button. */
export async function changeAction(_before: CodesState, form: FormData): Promise<CodesState> {
  const user = await requireUser(page);
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const checked = await checkPassword(user.id, form);
  if (checked.errors) return checked;
  const call = { body: { password: checked.password }, headers: await headers() };
  try {
    if (text(form, "intent") === "codes") return { codes: (await auth().api.generateBackupCodes(call)).backupCodes };
    await auth().api.disableTwoFactor(call);
  } catch (refused) {
    authRefusal(refused);
  }
  redirect(page);
}

type Checked = { errors: Record<string, string> } | { errors?: undefined; password: string };

async function checkPassword(userId: string, form: FormData): Promise<Checked> {
  const parsed = passwordForm.safeParse({ password: text(form, "password") });
  if (!parsed.success) return { errors: errorsOf(parsed.error) };
  const wrong = await passwordError(userId, parsed.data.password);
  return wrong ? { errors: { password: wrong } } : { password: parsed.data.password };
}
