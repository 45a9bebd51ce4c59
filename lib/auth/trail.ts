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
 * Counts a try to sign in, by address and by account, over all web processes and whichever way it comes.
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

/** What a signed-in person changed by a call of better-auth. */
const changes: Record<string, AuditAction> = {
  "/update-user": "name_changed",
  "/change-password": "password_changed",
  "/two-factor/disable": "two_factor_disabled",
};

const signIns = /^\/(sign-in\/|callback\/|two-factor\/verify-)/;

/**
 * Adds what a call of better-auth did to the trail of its user: signing in, halfway or not at all, and changes of the
 * account. An address without an account leaves no trace.
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
    event = await signInEvent(context, failed);
  }
  if (!event) return;
  const from = originOf(context.headers ?? new Headers());
  await recordEvent(prisma(), event.userId, event.action, null, from).catch((error) => {
    if (!isUserGone(error)) throw error;
  });
}

/** A user who was deleted while the call ran has no trail any more (foreign key violation). */
const isUserGone = (error: unknown) => error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2003";

async function signInEvent(
  context: Context,
  failed: boolean,
): Promise<{ userId: string; action: AuditAction } | undefined> {
  const begun = context.context.newSession;
  if (begun && !failed) return { userId: begun.user.id, action: "signed_in" };
  const userId = (await userOfAddress(context.body?.email)) ?? (await userOfSecondStep(context));
  if (!userId) return undefined;
  if (failed) return { userId, action: "sign_in_failed" };
  return context.path === "/sign-in/email" ? { userId, action: "password_accepted" } : undefined;
}

async function userOfAddress(email: unknown): Promise<string | undefined> {
  if (typeof email !== "string") return undefined;
  return (await prisma().user.findUnique({ where: { email: email.toLowerCase() }, select: { id: true } }))?.id;
}

/** Whose second factor is being asked for, by the cookie that better-auth set at the password. */
async function userOfSecondStep(context: Context): Promise<string | undefined> {
  const { name } = context.context.createAuthCookie("two_factor");
  const identifier = await context.getSignedCookie(name, context.context.secret);
  if (!identifier) return undefined;
  return (await context.context.internalAdapter.findVerificationValue(identifier))?.value;
}
