import "server-only";
import { type Origin, recordEvent } from "#lib/auth/audit";
import { prisma } from "#lib/db/client";
import type { Session } from "#lib/generated/prisma/client";

/** A browser that is signed in. */
export type BrowserSession = Pick<Session, "id" | "createdAt" | "updatedAt" | "expiresAt" | "ipAddress" | "userAgent">;

/** A user's browser sessions, the last one used first. */
export async function listSessions(userId: string): Promise<BrowserSession[]> {
  return prisma().session.findMany({
    where: { userId, expiresAt: { gt: new Date() } },
    select: { id: true, createdAt: true, updatedAt: true, expiresAt: true, ipAddress: true, userAgent: true },
    orderBy: [{ updatedAt: "desc" }, { id: "asc" }],
  });
}

/**
 * Ends one of a user's sessions, or all but the one that asks.
 *
 * @param which the session's id, or `{ except }` with the id that is to stay.
 * @returns how many ended.
 */
export async function revokeSessions(
  userId: string,
  which: string | { except: string },
  from: Origin,
): Promise<number> {
  return prisma().$transaction(async (tx) => {
    const id = typeof which === "string" ? which : { not: which.except };
    const { count } = await tx.session.deleteMany({ where: { userId, id } });
    if (count > 0) await recordEvent(tx, userId, "session_revoked", count > 1 ? `${count} sessions` : null, from);
    return count;
  });
}
