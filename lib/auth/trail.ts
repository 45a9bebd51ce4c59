import "server-only";
import type { createAuthMiddleware } from "better-auth/api";
import { isAPIError } from "better-auth/api";
import { type AuditAction, logSecurity, readOrigin, recordEvent } from "#lib/auth/audit";
import { isGuess } from "#lib/auth/guesses";
import { nameOfProvider } from "#lib/auth/providers";
import { endTrust, findPendingUser } from "#lib/auth/second-factor";
import { findVouchedUser } from "#lib/auth/two-factor";
import { prisma } from "#lib/db/client";
import { Prisma } from "#lib/generated/prisma/client";
import { overLimit } from "#lib/http/rate-limit";
import { log } from "#lib/log";

type HookContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** better-auth's routes by which a signed-in person changes the account. */
const changes: Record<string, AuditAction> = {
  "/update-user": "name_changed",
  "/change-password": "password_changed",
  "/two-factor/disable": "two_factor_disabled",
  "/two-factor/generate-backup-codes": "recovery_codes_created",
};

/** After these an earlier second factor no longer counts. */
const endingTrust: AuditAction[] = [
  "password_changed",
  "two_factor_enabled",
  "two_factor_disabled",
  "recovery_codes_created",
];

const signIns = /^\/(sign-in\/|callback\/|two-factor\/verify-)/;

type TrailEvent = { action: AuditAction; subject?: string };

/**
 * Records what a call of better-auth did in its user's audit trail: a sign-in, complete, halfway or failed, or a change of
 * the account, which also ends trusted browsers where it should. An address without an account is not recorded.
 */
export async function noteEvent(context: HookContext): Promise<void> {
  const { returned, session } = context.context;
  // A redirect, to a provider or back from it, is thrown as an APIError too.
  const failed = isAPIError(returned) && returned.statusCode >= 400;
  // A server action records it itself.
  if (session && failed && context.request && isGuess(context.path)) {
    await noteFailure(context, session.user.id, "reauthentication_failed");
  } else if (session) {
    const action = failed ? undefined : describeChange(context.path, session.user);
    if (action) await note(context, session.user.id, [{ action }]);
    if (action && endingTrust.includes(action)) await endTrust(prisma(), session.user.id);
  } else if (signIns.test(context.path)) {
    if (failed && context.path === "/sign-in/email") await afterAnswer(() => noteSignIn(context, failed));
    else await noteSignIn(context, failed);
  }
}

/** Does after the answer what takes longer where there is an account; at once where a program calls better-auth by itself. */
async function afterAnswer(work: () => Promise<void>): Promise<void> {
  const { after } = await import("next/server");
  try {
    after(() => work().catch((error) => log.error({ err: error }, "a failed sign-in is not in the audit trail")));
  } catch {
    await work();
  }
}

function describeChange(path: string, user: Record<string, unknown>): AuditAction | undefined {
  if (path === "/two-factor/verify-totp") return user.twoFactorEnabled ? undefined : "two_factor_enabled";
  return changes[path];
}

type TrailRequest = { path?: string; headers?: Headers | undefined } | null;

/** Hooks of better-auth's tables: it creates accounts and their providers by itself when a provider's sign-in comes back. */
export const noteAccount = ({ id }: { id: string }, context: TrailRequest) =>
  note(context, id, [{ action: "account_created" }]);

export const noteProvider = ({ userId, providerId }: { userId: string; providerId: string }, context: TrailRequest) =>
  note(context, userId, [{ action: "provider_linked", subject: nameOfProvider(providerId) }]);

/** A sign-in is also deleted where it is replaced or revoked, which is recorded as what it is. */
export async function noteSignOut({ userId }: { userId: string }, context: TrailRequest): Promise<void> {
  if (context?.path === "/sign-out") await note(context, userId, [{ action: "signed_out" }]);
}

async function note(context: TrailRequest, userId: string, events: TrailEvent[]): Promise<void> {
  const from = readOrigin(context?.headers ?? new Headers());
  for (const { action, subject = null } of events) {
    await recordEvent(prisma(), userId, action, subject, from).catch((error) => {
      if (!isUserGone(error)) throw error;
    });
  }
}

/** Anybody can fail to sign in to an account, and the trail is kept: of a day's failures it has as many as people read. */
const noted = { points: 100, seconds: 86_400 };

/** A user who was deleted while the call ran has no trail any more (foreign key violation). */
const isUserGone = (error: unknown) => error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2003";

async function noteSignIn(context: HookContext, failed: boolean): Promise<void> {
  const started = context.context.newSession;
  if (started && !failed) return note(context, started.user.id, listEvents(context));
  const vouchedFor = findVouchedUser(context);
  if (vouchedFor) {
    const subject = nameOfProvider(String(context.params?.id));
    return note(context, vouchedFor, [{ action: "provider_accepted", subject }]);
  }
  const userId = (await findUserByEmail(context.body?.email)) ?? (await findPendingUser(context));
  const from = readOrigin(context.headers ?? new Headers());
  if (!userId) return failed ? logSecurity("unknown_account", from) : undefined;
  if (failed) await noteFailure(context, userId, "sign_in_failed");
  else if (context.path === "/sign-in/email") await note(context, userId, [{ action: "password_accepted" }]);
}

async function noteFailure(
  context: HookContext,
  userId: string,
  action: "sign_in_failed" | "reauthentication_failed",
): Promise<void> {
  const isFull = (await overLimit("sign-in-failed", userId, noted)) !== undefined;
  if (isFull) logSecurity(action, readOrigin(context.headers ?? new Headers()), { userId });
  else await note(context, userId, [{ action }]);
}

/** What a complete sign-in is recorded as: the way, where it is not the password or an app's code, and a new trust. */
function listEvents({ path, params, body }: HookContext): TrailEvent[] {
  const signedIn: TrailEvent = { action: "signed_in" };
  if (path === "/two-factor/verify-backup-code") signedIn.subject = "with a recovery code";
  if (path.startsWith("/callback/")) signedIn.subject = `with ${nameOfProvider(String(params?.id))}`;
  const trusted = path.startsWith("/two-factor/verify-") && body?.trustDevice === true;
  return trusted ? [signedIn, { action: "browser_trusted" }] : [signedIn];
}

async function findUserByEmail(email: unknown): Promise<string | undefined> {
  if (typeof email !== "string") return undefined;
  return (await prisma().user.findUnique({ where: { email: email.toLowerCase() }, select: { id: true } }))?.id;
}
