import "server-only";
import { type Origin, recordEvent } from "#lib/auth/audit";
import { endTrust } from "#lib/auth/second-factor";
import { prisma } from "#lib/db/client";
import type { Session } from "#lib/generated/prisma/client";

/** A browser that is signed in: what better-auth calls a session. */
export type SignIn = Pick<Session, "id" | "createdAt" | "updatedAt" | "expiresAt" | "ipAddress" | "userAgent">;

/** A user's sign-ins, the last active one first. */
export async function listSignIns(userId: string): Promise<SignIn[]> {
  return prisma().session.findMany({
    where: { userId, expiresAt: { gt: new Date() } },
    select: { id: true, createdAt: true, updatedAt: true, expiresAt: true, ipAddress: true, userAgent: true },
    orderBy: [{ updatedAt: "desc" }, { id: "asc" }],
  });
}

const recentMinutes = 10;

/** Whether somebody signed in just now: all that a person without password and second factor can prove. */
export async function isRecent(userId: string, signInId: string): Promise<boolean> {
  const createdAt = { gt: new Date(Date.now() - recentMinutes * 60_000) };
  return (await prisma().session.count({ where: { userId, id: signInId, createdAt } })) > 0;
}

/**
 * Signs one of a user's browsers out, or all but one. No browser stays trusted to skip the second factor: which of them is the
 * one that was signed out is not known.
 *
 * @param which the sign-in's id, or `{ except }` with the id of the one to keep.
 * @returns how many were signed out.
 */
export async function endSignIns(userId: string, which: string | { except: string }, from: Origin): Promise<number> {
  return prisma().$transaction(async (tx) => {
    const one = typeof which === "string";
    const { count } = await tx.session.deleteMany({ where: { userId, id: one ? which : { not: which.except } } });
    await endTrust(tx, userId);
    if (one && count > 0) await recordEvent(tx, userId, "session_revoked", null, from);
    if (!one) await recordEvent(tx, userId, "other_sessions_revoked", String(count), from);
    return count;
  });
}

/** Deletes sign-ins that expired, and what better-auth keeps of ones that were begun. */
export async function purgeSignIns(): Promise<void> {
  const isOver = { expiresAt: { lt: new Date() } };
  await prisma().session.deleteMany({ where: isOver });
  await prisma().verification.deleteMany({ where: isOver });
}
