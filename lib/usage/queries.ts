import "server-only";
import { prisma } from "#lib/db/client";

/** How many of a user's traces the ledger has not taken in yet. */
export function countDueTraces(userId: string): Promise<number> {
  return prisma().trace.count({ where: { userId, ledgerDue: true, deletedAt: null } });
}

/** How many sessions nothing but their upload dates: they are in no period (lib/ledger/sql/activity.ts). */
export const countUndated = (userId: string): Promise<number> =>
  prisma().traceUsage.count({ where: { userId, day: new Date(0) } });

export { findLastUse } from "#lib/usage/sql/last";
