"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { renderSVG } from "uqr";
import { auth } from "#lib/auth/auth";
import { codeForm, passwordForm } from "#lib/auth/schema";
import { requireUser } from "#lib/auth/session";
import { authRefusal, faultsOf, passwordFault, refuseStrangers, text } from "../../../components/form-guard";
import type { FormState } from "../../../components/form-state";

/** What an authenticator app needs, and the codes for the day it is gone. */
export type Enrolment = { picture: string; secret: string; codes: string[] };
export type EnrolmentState = FormState & { enrolment?: Enrolment | undefined };
export type CodesState = FormState & { codes?: string[] };

const page = "/settings/two-factor";

/**
 * Switches the second factor on in two steps: the password brings the secret, then a code of it proves that an app has
 * it. One action for both, because without script what the first answered is only kept in the state of its own form.
 */
export async function switchOnAction(before: EnrolmentState, form: FormData): Promise<EnrolmentState> {
  const user = await requireUser(page);
  const { enrolment } = before;
  const error = await refuseStrangers();
  if (error) return { enrolment, error };
  if (form.has("code")) return confirm(enrolment, text(form, "code"));
  const checked = await checkPassword(user.id, form);
  if (checked.errors) return checked;
  try {
    const body = { password: checked.password };
    const answer = await auth().api.enableTwoFactor({ body, headers: await headers() });
    if (answer.method !== "totp") return { error: "This server has no such second factor." };
    return { enrolment: describe(answer.totpURI, answer.backupCodes) };
  } catch (refused) {
    authRefusal(refused);
    redirect(page); // it is on already, by another tab
  }
}

async function confirm(enrolment: Enrolment | undefined, typed: string): Promise<EnrolmentState> {
  const parsed = codeForm.safeParse({ code: typed });
  if (!parsed.success) return { enrolment, errors: faultsOf(parsed.error) };
  try {
    await auth().api.verifyTOTP({ body: parsed.data, headers: await headers() });
  } catch (refused) {
    const code = authRefusal(refused);
    if (code !== "INVALID_CODE") return { error: "Begin again: this second factor is no longer waiting." };
    return { enrolment, errors: { code: "This is not the code of this moment. Wait for the next one." } };
  }
  redirect(`${page}?on=1`);
}

function describe(uri: string, codes: string[]): Enrolment {
  const secret = new URL(uri).searchParams.get("secret") ?? "";
  const picture = `data:image/svg+xml;utf8,${encodeURIComponent(renderSVG(uri, { border: 2 }))}`;
  return { picture, secret, codes };
}

/** Switches the second factor off, or makes new recovery codes, as the pressed button says. */
export async function changeAction(_before: CodesState, form: FormData): Promise<CodesState> {
  const user = await requireUser(page);
  const error = await refuseStrangers();
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
  if (!parsed.success) return { errors: faultsOf(parsed.error) };
  const fault = await passwordFault(userId, parsed.data.password);
  return fault ? { errors: { password: fault } } : { password: parsed.data.password };
}
