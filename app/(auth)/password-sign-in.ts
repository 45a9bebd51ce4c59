import "server-only";
import { isAPIError } from "better-auth/api";
import { headers } from "next/headers";
import { auth } from "#lib/auth/auth";

type Outcome = { error?: string; secondFactor?: boolean };
type Credentials = { email: string; password: string; rememberMe: boolean };

/**
 * Signs in with a password; better-auth's nextCookies sets the cookie.
 *
 * @returns the error to show, or that a second factor is required first.
 */
export async function signInWithPassword(credentials: Credentials): Promise<Outcome> {
  const requestHeaders = await headers();
  try {
    const result = await auth().api.signInEmail({ body: credentials, headers: requestHeaders });
    return { secondFactor: "twoFactorRedirect" in result };
  } catch (error) {
    if (!isAPIError(error)) throw error; // not `instanceof`: a process may hold more than one copy of the library
    // Too many wrong ones, or too many at once: the message says how long to wait.
    if (error.statusCode === 429 || error.statusCode === 503) return { error: error.message };
    if (error.statusCode >= 500) throw error;
    return { error: "Email or password is wrong." };
  }
}
