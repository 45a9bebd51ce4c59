import "server-only";
import { APIError, type createAuthMiddleware, getSessionFromCtx, isAPIError } from "better-auth/api";
import { endTrust } from "#lib/auth/second-factor";
import { prisma } from "#lib/db/client";
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
  return (await import("./password-strength.ts")).weaknessOf(password, [name, email, new URL(env().BASE_URL).hostname]);
}

type Stored = { userId: string; password: string | null };

/** The passwords' hashes that running sign-ins began with. */
const begunWith = new WeakMap<object, Stored | null>();

async function findStored({ body }: Context): Promise<Stored | null> {
  if (typeof body?.email !== "string") return null;
  const user = { email: body.email.toLowerCase() };
  const where = { providerId: "credential", user };
  return prisma().account.findFirst({ where, select: { userId: true, password: true } });
}

/** Notes which password a sign-in begins with, for `refuseOutdated`. */
export async function noteStored(context: Context): Promise<void> {
  begunWith.set(context.context, await findStored(context));
}

/**
 * Ends a sign-in whose password was changed or reset meanwhile: it may have waited for its hash for seconds, and would
 * outlive the change, which ended all others.
 *
 * @throws APIError 401
 */
export async function refuseOutdated(context: Context): Promise<void> {
  const { newSession, returned, internalAdapter } = context.context;
  const before = begunWith.get(context.context);
  if (isAPIError(returned) || !before || (await findStored(context))?.password === before.password) return;
  if (newSession) await internalAdapter.deleteSession(newSession.session.token);
  context.context.setNewSession(null);
  await endTrust(prisma(), before.userId);
  throw new APIError("UNAUTHORIZED", { message: "Invalid email or password", code: "INVALID_EMAIL_OR_PASSWORD" });
}
