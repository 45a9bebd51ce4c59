import "server-only";
import type { createAuthMiddleware } from "better-auth/api";
import { APIError, isAPIError } from "better-auth/api";
import { type AuditAction, originOf, recordEvent } from "#lib/auth/audit";
import { prisma } from "#lib/db/client";
import { env } from "#lib/env";
import { Prisma } from "#lib/generated/prisma/client";
import { networkOf } from "#lib/http/address";
import { overLimit } from "#lib/http/rate-limit";

type Context = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/**
 * Counts an attempt to sign in, by address and by account, across all web processes.
 *
 * @throws APIError 429
 */
export async function limitSignIn({ body, headers }: Context): Promise<void> {
  if (env().AUTH_RATE_LIMIT !== "on") return;
  const { address } = originOf(headers ?? new Headers());
  const email = String(body?.email ?? "").toLowerCase();
  const waits = await Promise.all([
    overLimit("sign-in-ip", networkOf(address), { points: 20, seconds: 60 }),
    overLimit("sign-in-email", email.slice(0, 200), { points: 30, seconds: 600 }),
  ]);
  if (waits.some((seconds) => seconds !== undefined)) {
    throw new APIError("TOO_MANY_REQUESTS", { message: "Too many attempts. Wait a moment and try again." });
  }
}

/** better-auth's routes by which a signed-in person changes the account. */
const changes: Record<string, AuditAction> = {
  "/update-user": "name_changed",
  "/change-password": "password_changed",
  "/two-factor/disable": "two_factor_disabled",
};

const signIns = /^\/(sign-in\/|callback\/|two-factor\/verify-)/;

/**
 * Records what a call of better-auth did in its user's audit trail: a sign-in, complete, halfway or failed, or a change of
 * the account. An address without an account is not recorded.
 */
export async function noteEvent(context: Context): Promise<void> {
  const { path } = context;
  const failed = isAPIError(context.context.returned);
  const session = context.context.session;
  let event: { userId: string; action: AuditAction } | undefined;
  if (session) {
    const action =
      path === "/two-factor/verify-totp" && !session.user.twoFactorEnabled ? "two_factor_enabled" : changes[path];
    if (action && !failed) event = { userId: session.user.id, action };
  } else if (signIns.test(path)) {
    event = await describeSignIn(context, failed);
  }
  if (!event) return;
  const from = originOf(context.headers ?? new Headers());
  await recordEvent(prisma(), event.userId, event.action, null, from).catch((error) => {
    if (!isUserGone(error)) throw error;
  });
}

/** A user who was deleted while the call ran has no trail any more (foreign key violation). */
const isUserGone = (error: unknown) => error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2003";

async function describeSignIn(
  context: Context,
  failed: boolean,
): Promise<{ userId: string; action: AuditAction } | undefined> {
  const started = context.context.newSession;
  if (started && !failed) return { userId: started.user.id, action: "signed_in" };
  const userId = (await findUserByEmail(context.body?.email)) ?? (await findPendingUser(context));
  if (!userId) return undefined;
  if (failed) return { userId, action: "sign_in_failed" };
  return context.path === "/sign-in/email" ? { userId, action: "password_accepted" } : undefined;
}

async function findUserByEmail(email: unknown): Promise<string | undefined> {
  if (typeof email !== "string") return undefined;
  return (await prisma().user.findUnique({ where: { email: email.toLowerCase() }, select: { id: true } }))?.id;
}

/** The user whose second factor is pending, from the cookie that better-auth set after the password. */
async function findPendingUser(context: Context): Promise<string | undefined> {
  const { name } = context.context.createAuthCookie("two_factor");
  const identifier = await context.getSignedCookie(name, context.context.secret);
  if (!identifier) return undefined;
  return (await context.context.internalAdapter.findVerificationValue(identifier))?.value;
}
