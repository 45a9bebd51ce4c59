import "server-only";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { endTrust } from "#lib/auth/sign-in/second-factor";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import type { Session } from "#lib/generated/prisma/client";

/** better-auth calls it a session. */
export type SignIn = Pick<Session, "id" | "createdAt" | "updatedAt" | "expiresAt" | "ipAddress" | "userAgent">;

/** The page's time grows with their number. */
export const maxListedSignIns = 200;

export async function listSignIns(userId: string): Promise<SignIn[]> {
  return prisma().session.findMany({
    where: { userId, expiresAt: { gt: new Date() } },
    select: { id: true, createdAt: true, updatedAt: true, expiresAt: true, ipAddress: true, userAgent: true },
    orderBy: [{ updatedAt: "desc" }, { id: "asc" }],
    take: maxListedSignIns,
  });
}

const recentMinutes = 10;

/** The only proof that a person without password and second factor can give. */
export async function isRecent(userId: string, signInId: string): Promise<boolean> {
  const now = Date.now();
  // A sign-in with a future time was made while a clock was ahead.
  const createdAt = { gt: new Date(now - recentMinutes * 60_000), lt: new Date(now + recentMinutes * 60_000) };
  return (await prisma().session.count({ where: { userId, id: signInId, createdAt } })) > 0;
}

/**
 * Also ends trust in all browsers, since it is unknown which of them was signed out.
 * @param which an id, or `{ except }` with the id to keep
 */
export async function endSignIns(
  userId: string,
  which: string | { except: string },
  from: AuditOrigin,
): Promise<number> {
  return prisma().$transaction(async (tx) => {
    const one = typeof which === "string";
    const { count } = await tx.session.deleteMany({ where: { userId, id: one ? which : { not: which.except } } });
    await endTrust(tx, userId);
    if (one && count > 0) await recordEvent(tx, userId, "session_revoked", null, from);
    if (!one) await recordEvent(tx, userId, "other_sessions_revoked", String(count), from);
    return count;
  });
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const { idleDays, maxDays, unrememberedIdleHours } = limits.signIn;

/** better-auth creates it for 30 days, or for one if the browser is not remembered. */
export function firstEnd(signIn: { createdAt: Date; expiresAt: Date }, remembered: boolean): Date {
  const idleMs = remembered ? idleDays * dayMs : unrememberedIdleHours * hourMs;
  return new Date(Math.min(signIn.expiresAt.getTime(), signIn.createdAt.getTime() + idleMs));
}

/** @returns false if it was idle for too long */
export async function keepSignIn(
  signIn: Pick<SignIn, "id" | "createdAt" | "updatedAt" | "expiresAt">,
): Promise<boolean> {
  const { id, createdAt, updatedAt } = signIn;
  const now = Date.now();
  const idleMs = Math.min(signIn.expiresAt.getTime() - updatedAt.getTime(), idleDays * dayMs);
  if (updatedAt.getTime() + idleMs <= now) return false;
  if (now - updatedAt.getTime() < hourMs) return true;
  const expiresAt = new Date(Math.min(now + idleMs, createdAt.getTime() + maxDays * dayMs));
  await prisma().session.updateMany({ where: { id, updatedAt }, data: { updatedAt: new Date(now), expiresAt } });
  return true;
}

export async function purgeSignIns(): Promise<void> {
  const ended = { where: { expiresAt: { lt: new Date() } } };
  await prisma().verification.deleteMany(ended);
  await prisma().session.deleteMany(ended);
}

/** A use after this pause begins a new visit. */
const visitMs = 30 * 60_000;

/** Both are undefined before the first visit. */
export type Visit = { seenAt: Date | undefined; since: Date | undefined };

export async function readVisit(userId: string, now: Date): Promise<Visit> {
  const row = await prisma().user.findUnique({ where: { id: userId }, select: { seenAt: true, newsSince: true } });
  const { seenAt, newsSince } = row ?? {};
  if (!seenAt) return { seenAt: undefined, since: undefined };
  const isNew = now.getTime() - seenAt.getTime() > visitMs;
  return { seenAt, since: (isNew ? seenAt : newsSince) ?? undefined };
}

/** One of several concurrent calls begins the visit. */
export async function noteVisit(userId: string, now: Date): Promise<void> {
  const { seenAt, since } = await readVisit(userId, now);
  await prisma().user.updateMany({
    where: { id: userId, seenAt: seenAt ?? null },
    data: { seenAt: now, newsSince: since ?? null },
  });
}
