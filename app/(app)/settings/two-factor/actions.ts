"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { renderSVG } from "uqr";
import { auth } from "#lib/auth/auth";
import { isFactorRequired, requireAnyUser } from "#lib/auth/guards";
import { codeForm } from "#lib/auth/schema";
import { localPath } from "#lib/http/address";
import type { FormState } from "../../../components/forms/form";
import {
  authRefusal,
  collectFieldErrors,
  refuseForeignOrigin,
  requireForm,
  text,
} from "../../../components/forms/form-guard";
import { refuseUnproved } from "../proof";
import { proofFields } from "../proof-fields";

export type Enrolment = { picture: string; secret: string; codes: string[] };
export type EnrolmentState = FormState & { enrolment?: Enrolment | undefined };
export type CodesState = FormState & { codes?: string[] };

const page = "/settings/two-factor";

/** One action for both steps: without JavaScript only the form's state has the secret. */
export async function switchOnAction(before: EnrolmentState, form: FormData): Promise<EnrolmentState> {
  const user = await requireAnyUser(page);
  // Another tab has turned it on, so the page must ask for the code too.
  if (user.twoFactorEnabled) redirect(page);
  const { enrolment } = before;
  const error = await refuseForeignOrigin();
  if (error) return { enrolment, error };
  if (requireForm(form).has("code")) return confirm(enrolment, text(form, "code"), text(form, "next"));
  const refusal = await refuseUnproved(user, form);
  if (refusal) return refusal;
  try {
    const answer = await auth().api.enableTwoFactor({ body: passwordIn(form), headers: await headers() });
    if (answer.method !== "totp") return { error: "This server does not support this second factor." };
    return { enrolment: describe(answer.totpURI, answer.backupCodes) };
  } catch (refused) {
    authRefusal(refused);
    redirect(page); // another tab has turned it on meanwhile
  }
}

async function confirm(enrolment: Enrolment | undefined, typed: string, next: string): Promise<EnrolmentState> {
  const parsed = codeForm.safeParse({ code: typed });
  if (!parsed.success) return { enrolment, errors: collectFieldErrors(parsed.error) };
  try {
    await auth().api.verifyTOTP({ body: parsed.data, headers: await headers() });
  } catch (refused) {
    const code = authRefusal(refused);
    if (code !== "INVALID_CODE") return { error: "This set-up has expired. Start again." };
    return { enrolment, errors: { code: "This is not the current code. Wait for the next one." } };
  }
  redirect(next ? localPath(next) : `${page}?on=1`);
}

function describe(uri: string, codes: string[]): Enrolment {
  const secret = new URL(uri).searchParams.get("secret") ?? "";
  const picture = `data:image/svg+xml;utf8,${encodeURIComponent(renderSVG(uri, { border: 2 }))}`;
  return { picture, secret, codes };
}

export async function changeAction(_before: CodesState, form: FormData): Promise<CodesState> {
  const user = await requireAnyUser(page);
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const isOff = text(form, "intent") === "off";
  if (isOff && isFactorRequired()) return { error: "This server requires two-factor authentication." };
  const refusal = await refuseUnproved(user, form);
  if (refusal) return refusal;
  const call = { body: passwordIn(form), headers: await headers() };
  try {
    if (!isOff) return { codes: (await auth().api.generateBackupCodes(call)).backupCodes };
    await auth().api.disableTwoFactor(call);
  } catch (refused) {
    authRefusal(refused);
  }
  redirect(page);
}

/** better-auth checks it again; an account may have no password. */
function passwordIn(form: FormData): { password?: string } {
  const password = text(form, proofFields.password.name);
  return password ? { password } : {};
}
