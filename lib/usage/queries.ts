import "server-only";
import { prisma } from "#lib/db/client";

/** How many of a user's traces the ledger has not taken in yet. */
export function countDueTraces(userId: string): Promise<number> {
  return prisma().trace.count({ where: { userId, ledgerDue: true, deletedAt: null } });
}

export { findLastUse } from "#lib/usage/sql/last";
