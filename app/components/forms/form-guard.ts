import "server-only";
import { isAPIError } from "better-auth/api";
import { revalidatePath } from "next/cache";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { z } from "zod";
import { isPassword } from "#lib/auth/accounts";
import { type AuditOrigin, currentOrigin, logSecurity, recordFailedProof } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { requireSameOrigin, requireUser, type SignedInUser } from "#lib/auth/guards";
import { idForm } from "#lib/auth/schema";
import { env } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { countAttempt, uncount } from "#lib/http/rate-limit";
import type { FormState } from "./form";

/** The likely cause is a page that was not opened at BASE_URL. */
export async function refuseForeignOrigin(): Promise<string | undefined> {
  try {
    requireSameOrigin(await headers());
    return undefined;
  } catch (error) {
    if (!(error instanceof SpoorError)) throw error;
    logSecurity("foreign_origin", await currentOrigin());
    return `This form only works at this server's own address. Open ${env().BASE_URL} and try again there.`;
  }
}

/** Our own pages never send such a request, so it gets the not-found page. */
export async function requireOwnOrigin(): Promise<void> {
  if (await refuseForeignOrigin()) notFound();
}

/** Anybody can call an action with any arguments. */
export function requireForm(given: FormData): FormData {
  if (!(given instanceof FormData)) notFound();
  return given;
}

/** Empty for a missing field or a file. */
export function text(form: FormData, name: string): string {
  const value = requireForm(form).get(name);
  return typeof value === "string" ? value : "";
}

/** Invalid values are forged, since only our pages send them, and get the not-found page. */
export function sent<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) notFound();
  return parsed.data;
}

/** The form's id, which makes sending it twice create only one thing. */
export const formIdIn = (form: FormData): string | undefined => z.uuid().safeParse(text(form, "formId")).data;

export const idIn = (form: FormData, name: string): string => sent(z.uuid(), requireForm(form).get(name));

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

export function collectFieldErrors(error: z.ZodError): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of error.issues) errors[String(path[0])] ??= message;
  return errors;
}

/** @returns the form's state until the person has confirmed, then undefined */
export function askFirst(form: FormData): FormState | undefined {
  const answer = text(form, "confirmed");
  return answer === "yes" ? undefined : { confirming: answer !== "no" };
}

export async function endById(
  form: FormData,
  { page, unknown }: { page: string; unknown: string },
  end: (userId: string, id: string, from: AuditOrigin, user: SignedInUser) => Promise<unknown>,
): Promise<FormState> {
  const user = await requireUser(page);
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const parsed = idForm.safeParse({ id: text(form, "id") });
  if (!parsed.success) return { error: unknown };
  const question = askFirst(form);
  if (question) return question;
  await end(user.id, parsed.data.id, await currentOrigin(), user);
  revalidatePath(page);
  return {};
}

export function toFormState(error: unknown): FormState {
  if (error instanceof SpoorError) return { error: error.message };
  throw error;
}

/** The error code of a refusal by better-auth; empty if it is busy. Anything else is rethrown. */
export function authRefusal(error: unknown): string {
  if (!isAPIError(error) || (error.statusCode >= 500 && error.statusCode !== 503)) throw error;
  return error.body?.code ?? "";
}

const attempts = { points: limits.signIn.wrongPasswordsAgainPerHour, seconds: 3600 };

/**
 * Counts by account, so that an abandoned browser cannot be used to guess. @returns the error, or undefined if the
 * password is right
 */
export async function passwordError(userId: string, password: string): Promise<string | undefined> {
  return proofError(userId, "This is not your password.", () => isPassword(userId, password));
}

export async function codeError(userId: string, typed: string): Promise<string | undefined> {
  const code = typed.replace(/\s/g, "");
  const isAppCode = /^\d+$/.test(code);
  const wrong = isAppCode
    ? "This is not the current code. Wait for the next one."
    : "This is not one of your recovery codes, or it was already used.";
  return proofError(userId, wrong, async () => {
    const call = { body: { code }, headers: await headers() };
    try {
      await (isAppCode ? auth().api.verifyTOTP(call) : auth().api.verifyBackupCode(call));
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
    // A code that was never checked does not count.
    if (counted) await uncount("password-again", userId, attempts);
    return toFormState(error).error;
  }
  if (counted) await uncount("password-again", userId, attempts);
  return undefined;
}
