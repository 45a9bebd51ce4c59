import "server-only";
import { isAPIError } from "better-auth/api";
import { type AuditAction, logSecurity, readOrigin, recordEvent } from "#lib/auth/audit";
import { isGuess } from "#lib/auth/sign-in/guesses";
import { nameOfProvider } from "#lib/auth/sign-in/providers";
import { endTrust, findPendingUser, type HookContext } from "#lib/auth/sign-in/second-factor";
import { findVouchedUser } from "#lib/auth/sign-in/two-factor";
import { log } from "#lib/core/log";
import { prisma } from "#lib/db/client";
import { Prisma } from "#lib/generated/prisma/client";
import { overLimit } from "#lib/http/rate-limit";

const changes: Record<string, AuditAction> = {
  "/update-user": "name_changed",
  "/change-password": "password_changed",
  "/two-factor/disable": "two_factor_disabled",
  "/two-factor/generate-backup-codes": "recovery_codes_created",
};

/** These end trust in earlier second factors. */
const endingTrust: AuditAction[] = [
  "password_changed",
  "two_factor_enabled",
  "two_factor_disabled",
  "recovery_codes_created",
];

const signIns = /^\/(sign-in\/|callback\/|two-factor\/verify-)/;

type TrailEvent = { action: AuditAction; subject?: string };

/**
 * Records sign-ins (complete, halfway or failed) and changes of the account, which also end trusted browsers. An
 * address without an account is not recorded.
 */
export async function noteEvent(context: HookContext): Promise<void> {
  const { returned, session } = context.context;
  // better-auth throws redirects as errors, too.
  const failed = isAPIError(returned) && returned.statusCode >= 400;
  // Server actions record it themselves.
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

/** Time would reveal which addresses have accounts. */
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

/** better-auth creates accounts and providers itself when a provider's sign-in returns. */
export const noteAccount = ({ id }: { id: string }, context: TrailRequest) =>
  note(context, id, [{ action: "account_created" }]);

export const noteProvider = ({ userId, providerId }: { userId: string; providerId: string }, context: TrailRequest) =>
  note(context, userId, [{ action: "provider_linked", subject: nameOfProvider(providerId) }]);

/** Replaced and revoked sign-ins are recorded as such. */
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

/** Anybody can cause failures, and the trail is kept, so their number per day is bounded. */
const noted = { points: 100, seconds: 86_400 };

/** The user was deleted meanwhile (foreign key violation). */
const isUserGone = (error: unknown) => error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2003";

async function noteSignIn(context: HookContext, failed: boolean): Promise<void> {
  const started = context.context.newSession;
  if (started && !failed) return note(context, started.user.id, toTrailEvents(context));
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

function toTrailEvents({ path, params, body }: HookContext): TrailEvent[] {
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
