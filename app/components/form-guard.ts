import "server-only";
import { isAPIError } from "better-auth/api";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { z } from "zod";
import { isPassword } from "#lib/auth/accounts";
import { currentOrigin, logSecurity, recordFailedProof } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { requireSameOrigin } from "#lib/auth/guards";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";
import { countAttempt, uncount } from "#lib/http/rate-limit";
import { limits } from "#lib/limits";
import type { FormState } from "./form-state";

/** The error for a request from another origin; its likely cause is a page that was not opened at BASE_URL. */
export async function refuseForeignOrigin(): Promise<string | undefined> {
  try {
    requireSameOrigin(await headers());
    return undefined;
  } catch (error) {
    if (!(error instanceof SpoorError)) throw error;
    logSecurity("foreign_origin", await currentOrigin());
    return `This form only works at this server's own address. Open ${env().BASE_URL} and try there.`;
  }
}

/** Answers what comes from another origin with the not-found page: no page of ours sends it, and nothing has failed. */
export async function requireOwnOrigin(): Promise<void> {
  if (await refuseForeignOrigin()) notFound();
}

/** The form that an action is called with: Next passes on whatever a request calls it with, and a page of ours sends a form. */
export function requireForm(given: FormData): FormData {
  if (!(given instanceof FormData)) notFound();
  return given;
}

/** A field of a form as text; empty for a missing one and for a file. */
export function text(form: FormData, name: string): string {
  const value = requireForm(form).get(name);
  return typeof value === "string" ? value : "";
}

/** What only a page of ours sends, as its schema reads it. Anything else is forged, and gets the not-found page. */
export function sent<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) notFound();
  return parsed.data;
}

/** An id in a form. */
export const idIn = (form: FormData, name: string): string => sent(z.uuid(), requireForm(form).get(name));

/** The id of a form that creates one thing however often it is sent. */
export const formIdIn = (form: FormData): string | undefined => z.uuid().safeParse(text(form, "formId")).data;

/** A field of a form that is JSON. */
export const jsonIn = <T>(form: FormData, name: string, schema: z.ZodType<T>): T =>
  sent(fromJson.pipe(schema), requireForm(form).get(name));

const fromJson = z.string().transform((text, { issues }): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    issues.push({ code: "custom", message: "is no JSON", input: text });
    return z.NEVER;
  }
});

/** The first error of each field. */
export function errorsOf(error: z.ZodError): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of error.issues) errors[String(path[0])] ??= message;
  return errors;
}

/**
 * For an action that asks before it acts (`question` of Form).
 *
 * @returns the state to answer with until the person has confirmed; undefined once they have.
 */
export function askFirst(form: FormData): FormState | undefined {
  const answer = text(form, "confirmed");
  return answer === "yes" ? undefined : { confirming: answer !== "no" };
}

/** A SpoorError as a form's state. Anything else is rethrown. */
export function refusalOf(error: unknown): FormState {
  if (error instanceof SpoorError) return { error: error.message };
  throw error;
}

/** The error code of a refusal by better-auth, none where it is busy; its failures, and anything else, are rethrown. */
export function authRefusal(error: unknown): string {
  if (!isAPIError(error) || (error.statusCode >= 500 && error.statusCode !== 503)) throw error;
  return error.body?.code ?? "";
}

const attempts = { points: limits.signIn.wrongPasswordsAgainPerHour, seconds: 3600 };

/**
 * Checks a password that a signed-in person has to repeat. Wrong ones count by account, so that a browser that was left open
 * can't be used to guess it, and are in the audit trail.
 *
 * @returns the error to show, or undefined where the password is right.
 */
export async function passwordError(userId: string, password: string): Promise<string | undefined> {
  return proofError(userId, "This is not your password.", () => isPassword(userId, password));
}

/** As `passwordError`, for a code of the signed-in person's authenticator app, or a recovery code; each is spent by it. */
export async function codeError(userId: string, typed: string): Promise<string | undefined> {
  const code = typed.replace(/\s/g, "");
  const isOfApp = /^\d+$/.test(code);
  const wrong = isOfApp
    ? "This is not the current code. Wait for the next one."
    : "This is not one of your recovery codes, or it was used already.";
  return proofError(userId, wrong, async () => {
    const call = { body: { code }, headers: await headers() };
    try {
      await (isOfApp ? auth().api.verifyTOTP(call) : auth().api.verifyBackupCode(call));
      return true;
    } catch (refused) {
      authRefusal(refused);
      return false;
    }
  });
}

async function proofError(userId: string, wrong: string, isRight: () => Promise<boolean>): Promise<string | undefined> {
  const counted = env().AUTH_RATE_LIMIT === "on";
  if (counted && (await countAttempt("password-again", userId, attempts))) {
    logSecurity("too_many_attempts", await currentOrigin(), { userId, limit: "password-again" });
    return "Too many wrong attempts. Try again in an hour.";
  }
  try {
    if (!(await isRight())) {
      await recordFailedProof(userId, await currentOrigin());
      return wrong;
    }
  } catch (error) {
    // It was not checked, for want of time.
    if (counted) await uncount("password-again", userId, attempts);
    return refusalOf(error).error;
  }
  if (counted) await uncount("password-again", userId, attempts);
  return undefined;
}
