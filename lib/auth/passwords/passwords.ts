import "server-only";
import { APIError, getSessionFromCtx, isAPIError } from "better-auth/api";
import { hashPassword, isOutdated, verifyPassword } from "#lib/auth/passwords/hashing";
import { endTrust, findPendingUser, type HookContext } from "#lib/auth/sign-in/second-factor";
import { env } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { prisma } from "#lib/db/client";

/** Only for new passwords. @throws SpoorError `invalid_request` with the path `password` */
export async function requireStrong(password: string, about: { name?: string; email: string }): Promise<void> {
  const message = await findWeakness(password, about);
  if (message) throw new SpoorError("invalid_request", message, { errors: [{ path: "password", message }] });
}

/** As `requireStrong`, before better-auth changes a password. */
export async function refuseWeakChange(context: HookContext): Promise<void> {
  const session = await getSessionFromCtx(context, { disableRefresh: true });
  if (!session) return; // better-auth refuses it
  const message = await findWeakness(String(context.body?.newPassword), session.user);
  if (message) throw new APIError("BAD_REQUEST", { message, code: "PASSWORD_TOO_WEAK" });
}

export async function findWeakness(password: string, { name = "", email }: { name?: string; email: string }) {
  // The dictionaries take memory that most processes never need.
  return (await import("./password-strength.ts")).findWeakness(password, [
    name,
    email,
    new URL(env().BASE_URL).hostname,
  ]);
}

type StoredPassword = { userId: string; password: string | null };

/** The hashes that running sign-ins started with. */
const begunWith = new WeakMap<object, StoredPassword | null>();

const credential = { providerId: "credential" };

async function findStored(context: HookContext): Promise<StoredPassword | null> {
  const { path, body } = context;
  const select = { userId: true, password: true };
  if (path !== "/sign-in/email") {
    const userId = await findPendingUser(context);
    return userId ? prisma().account.findFirst({ where: { ...credential, userId }, select }) : null;
  }
  if (typeof body?.email !== "string") return null;
  return prisma().account.findFirst({ where: { ...credential, user: { email: body.email.toLowerCase() } }, select });
}

export async function noteStored(context: HookContext): Promise<void> {
  begunWith.set(context.context, await findStored(context));
}

/** A password may change while its hash is computed, which takes seconds. */
export async function refuseOutdated(context: HookContext): Promise<void> {
  const { newSession, returned, internalAdapter } = context.context;
  const before = begunWith.get(context.context);
  if (isAPIError(returned) || !before?.password) return;
  const { userId, password } = before;
  const given = context.path === "/sign-in/email" ? String(context.body?.password) : undefined;
  const isEarlier = given !== undefined && isOutdated(password);
  // When the server is busy, the next sign-in renews it.
  const renewed = isEarlier ? await hashPassword(given).catch(() => password) : password;
  // A write waits for a change that is about to commit; a later change ends this sign-in itself.
  const where = { ...credential, userId };
  const { count } = await prisma().account.updateMany({ where: { ...where, password }, data: { password: renewed } });
  if (count > 0) return;
  const now = await prisma().account.findFirst({ where, select: { password: true } });
  if (given !== undefined && (await isStillRight(now?.password, given))) return; // another sign-in renewed the hash
  if (newSession) await internalAdapter.deleteSession(newSession.session.token);
  context.context.setNewSession(null);
  await endTrust(prisma(), userId);
  throw new APIError("UNAUTHORIZED", given === undefined ? outdatedStep : wrongPassword);
}

const wrongPassword = { message: "Invalid email or password", code: "INVALID_EMAIL_OR_PASSWORD" };
const outdatedStep = { message: "Sign in again", code: "INVALID_TWO_FACTOR_COOKIE" };

async function isStillRight(hash: string | null | undefined, password: string): Promise<boolean> {
  return hash ? verifyPassword({ hash, password }).catch(() => false) : false;
}
