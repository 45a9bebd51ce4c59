import "server-only";
import { APIError } from "better-auth/api";
import { headers } from "next/headers";
import { clientAddress } from "#lib/address";
import { auth } from "#lib/auth/auth";
import { env } from "#lib/env";
import { overLimit } from "#lib/rate-limit";

type Entry = { error?: string; secondFactor?: boolean };

const wait = "Too many attempts. Wait a moment and try again.";

/**
 * Starts a browser session; better-auth's nextCookies sets its cookie.
 *
 * @returns what to tell the person where it did not start, or that a second factor is asked for first.
 */
export async function enterSession(credentials: { email: string; password: string }): Promise<Entry> {
  const requestHeaders = await headers();
  if (await tooOften(clientAddress(requestHeaders), credentials.email)) return { error: wait };
  try {
    const entered = await auth().api.signInEmail({ body: credentials, headers: requestHeaders });
    return { secondFactor: "twoFactorRedirect" in entered };
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (error.statusCode === 429) return { error: wait };
    if (error.statusCode >= 500) throw error;
    return { error: "Email or password is wrong." };
  }
}

/** better-auth counts what comes to its own routes, not calls of its functions; so what comes by a form counts here. */
async function tooOften(address: string, email: string): Promise<boolean> {
  if (env().AUTH_RATE_LIMIT !== "on") return false;
  const waits = await Promise.all([
    overLimit("sign-in-ip", address, { points: 20, seconds: 60 }),
    overLimit("sign-in-email", email.toLowerCase(), { points: 30, seconds: 600 }),
  ]);
  return waits.some((seconds) => seconds !== undefined);
}
