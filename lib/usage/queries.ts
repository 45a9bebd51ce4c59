import "server-only";
import { prisma } from "#lib/db/client";

export { findLastUse } from "#lib/usage/sql/quarters";

/** Traces whose last changes the ledger has not counted yet. */
export function countDueTraces(userId: string): Promise<number> {
  return prisma().trace.count({ where: { userId, ledgerDue: true, deletedAt: null } });
}

/** Counts sessions whose only date is their upload; they are in no span (lib/ledger/sql/activity.ts). */
export const countUndated = (userId: string): Promise<number> =>
  prisma().traceUsage.count({ where: { userId, day: new Date(0) } });

export const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** Names by id, for values of the facet `project` that are ids. */
export async function readProjectNames(userId: string, values: (string | null)[]): Promise<Map<string, string>> {
  const ids = [...new Set(values.filter((value) => value !== null && isId(value)))] as string[];
  if (ids.length === 0) return new Map();
  const rows = await prisma().project.findMany({
    where: { userId, id: { in: ids } },
    select: { id: true, name: true },
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
