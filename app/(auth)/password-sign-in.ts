import "server-only";
import { isAPIError } from "better-auth/api";
import { headers } from "next/headers";
import { auth } from "#lib/auth/auth";

type Outcome = { error?: string; secondFactor?: boolean };
type Credentials = { email: string; password: string; rememberMe: boolean };

/**
 * better-auth's nextCookies sets the cookie.
 * @returns the error, or that a second factor is required
 */
export async function signInWithPassword(credentials: Credentials): Promise<Outcome> {
  const requestHeaders = await headers();
  try {
    const result = await auth().api.signInEmail({ body: credentials, headers: requestHeaders });
    return { secondFactor: "twoFactorRedirect" in result };
  } catch (error) {
    if (!isAPIError(error)) throw error; // not `instanceof`: a process may load more than one copy of the library
    // Too many attempts: the message says how long to wait.
    if (error.statusCode === 429 || error.statusCode === 503) return { error: error.message };
    if (error.statusCode >= 500) throw error;
    return { error: "Email or password is wrong." };
  }
}
