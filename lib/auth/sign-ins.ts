import "server-only";
import { type Origin, recordEvent } from "#lib/auth/audit";
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

/**
 * Signs one of a user's browsers out, or all but one.
 *
 * @param which the sign-in's id, or `{ except }` with the id of the one to keep.
 * @returns how many were signed out.
 */
export async function endSignIns(userId: string, which: string | { except: string }, from: Origin): Promise<number> {
  return prisma().$transaction(async (tx) => {
    const id = typeof which === "string" ? which : { not: which.except };
    const { count } = await tx.session.deleteMany({ where: { userId, id } });
    if (count > 0) await recordEvent(tx, userId, "session_revoked", count > 1 ? `${count} browsers` : null, from);
    return count;
  });
}
