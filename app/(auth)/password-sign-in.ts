import "server-only";
import { APIError } from "better-auth/api";
import { headers } from "next/headers";
import { auth } from "#lib/auth/auth";

type Outcome = { error?: string; secondFactor?: boolean };

const wait = "Too many attempts. Wait a moment and try again.";

/**
 * Signs in with a password; better-auth's nextCookies sets the cookie.
 *
 * @returns the error to show, or that a second factor is required first.
 */
export async function signInWithPassword(credentials: { email: string; password: string }): Promise<Outcome> {
  const requestHeaders = await headers();
  try {
    const result = await auth().api.signInEmail({ body: credentials, headers: requestHeaders });
    return { secondFactor: "twoFactorRedirect" in result };
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (error.statusCode === 429) return { error: wait };
    if (error.statusCode >= 500) throw error;
    return { error: "Email or password is wrong." };
  }
}
