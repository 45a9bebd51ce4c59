import "server-only";
import { isAPIError } from "better-auth/api";
import { headers } from "next/headers";
import type { z } from "zod";
import { isPassword } from "#lib/auth/accounts";
import { requireSameOrigin } from "#lib/auth/session";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";
import { overLimit, uncount } from "#lib/http/rate-limit";
import type { FormState } from "./form-state";

/** A page opened under another address than BASE_URL is the likely cause, so that is what the form says. */
export async function refuseStrangers(): Promise<string | undefined> {
  try {
    requireSameOrigin(await headers());
    return undefined;
  } catch (error) {
    if (!(error instanceof SpoorError)) throw error;
    return `This form only works at this server's own address. Open ${env().BASE_URL} and try there.`;
  }
}

/** A field of a form as text; a missing one and a file are none. */
export function text(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/** The first fault of each field. */
export function faultsOf(error: z.ZodError): Record<string, string> {
  const faults: Record<string, string> = {};
  for (const { path, message } of error.issues) faults[String(path[0])] ??= message;
  return faults;
}

/** What a SpoorError tells a person, as a form's state. Anything else is thrown on. */
export function refusalOf(error: unknown): FormState {
  if (error instanceof SpoorError) return { error: error.message };
  throw error;
}

/** The code of a refusal by better-auth; its own failures, and anything else, are thrown on. */
export function authRefusal(error: unknown): string {
  if (!isAPIError(error) || error.statusCode >= 500) throw error;
  return error.body?.code ?? "";
}

const guesses = { points: 10, seconds: 600 };

/**
 * What is wrong with a password that is asked for once more, if anything. Wrong ones count by account: a browser that
 * was left open must not be the place to find a password out.
 */
export async function passwordFault(userId: string, password: string): Promise<string | undefined> {
  const counted = env().AUTH_RATE_LIMIT === "on";
  if (counted && (await overLimit("password-again", userId, guesses)))
    return "Too many attempts. Wait ten minutes and try again.";
  if (!(await isPassword(userId, password))) return "This is not your password.";
  if (counted) await uncount("password-again", userId, guesses);
  return undefined;
}
