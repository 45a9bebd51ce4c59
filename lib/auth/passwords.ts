import "server-only";
import { APIError, type createAuthMiddleware, getSessionFromCtx } from "better-auth/api";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";

type Context = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/**
 * Refuses a password that is too weak for a new one. What an account has already still opens it.
 *
 * @throws SpoorError `invalid_request` with the path `password`.
 */
export async function requireStrong(password: string, about: { name?: string; email: string }): Promise<void> {
  const message = await weaknessOf(password, about);
  if (message) throw new SpoorError("invalid_request", message, { errors: [{ path: "password", message }] });
}

/** The code of the error by which better-auth's route for a change refuses a password. */
export const weakPassword = "PASSWORD_TOO_WEAK";

/** As `requireStrong`, before better-auth changes a password. @throws APIError 400 */
export async function refuseWeakChange(context: Context): Promise<void> {
  const session = await getSessionFromCtx(context, { disableRefresh: true });
  if (!session) return; // better-auth refuses it
  const message = await weaknessOf(String(context.body?.newPassword), session.user);
  if (message) throw new APIError("BAD_REQUEST", { message, code: weakPassword });
}

async function weaknessOf(password: string, { name = "", email }: { name?: string; email: string }) {
  // Loaded with the first new password: the dictionaries take memory that most processes never need.
  return (await import("#lib/password-strength")).weaknessOf(password, [name, email, new URL(env().BASE_URL).hostname]);
}
