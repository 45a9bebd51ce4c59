import "server-only";
import { APIError } from "better-auth/api";
import { headers } from "next/headers";
import { auth } from "#lib/auth/auth";

type Entry = { error?: string; secondFactor?: boolean };

const wait = "Too many attempts. Wait a moment and try again.";

/**
 * Starts a browser session; better-auth's nextCookies sets its cookie.
 *
 * @returns what to tell the person where it did not start, or that a second factor is asked for first.
 */
export async function enterSession(credentials: { email: string; password: string }): Promise<Entry> {
  const requestHeaders = await headers();
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
