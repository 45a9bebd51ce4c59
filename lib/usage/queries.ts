import "server-only";
import { prisma } from "#lib/db/client";
import type { Facet } from "#lib/fields";
import { readUsageRows, type Usage } from "#lib/usage/sql";

export type UsageReport = {
  /** Over all spans. `untimed` messages have no time of their own, `uncounted` ones no token count. */
  total: Usage & { untimed: number; uncounted: number };
  /** By each facet's values over all spans; null if the client sent none. */
  byFacet: Record<Facet, (Usage & { value: string | null })[]>;
  /** By span (from 0) and by value of the requested facet. */
  bySpan: (Usage & { span: number; value: string | null })[];
};

/**
 * A user's usage in spans of time.
 *
 * @param starts the start of each span, in whole quarters of an hour, followed by the end of the last.
 * @param by the facet that each span is broken down by.
 */
export async function readUsage(userId: string, starts: Date[], by: Facet): Promise<UsageReport> {
  const rows = await readUsageRows(userId, starts, by);
  const total = rows.find(({ span, facet }) => span === null && facet === null);
  const of = (name: Facet) =>
    rows.filter(({ facet }) => facet === name).map((row) => ({ value: row.value, ...toUsage(row) }));
  return {
    total: { ...toUsage(total), untimed: total?.untimed ?? 0, uncounted: total?.uncounted ?? 0 },
    byFacet: { source: of("source"), model: of("model"), project: of("project"), machine: of("machine") },
    bySpan: rows.flatMap((row) => (row.span === null ? [] : [{ span: row.span, value: row.value, ...toUsage(row) }])),
  };
}

/** Sums over no rows are null. */
const toUsage = (row: Usage | undefined): Usage => ({
  sessions: row?.sessions ?? 0,
  messages: row?.messages ?? 0,
  tokens: row?.tokens ?? 0,
});

/** How many of a user's traces the ledger has not taken in yet. */
export function countDueTraces(userId: string): Promise<number> {
  return prisma().trace.count({ where: { userId, ledgerDue: true, deletedAt: null } });
}

export { findLastUse } from "#lib/usage/sql";
