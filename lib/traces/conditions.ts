import type { TraceFilter } from "#lib/traces/schema";

/**
 * Some of a user's traces: what a filter matches, or those of the given ids. `storedUntil` (ISO 8601) leaves out what an
 * upload wrote since: what is counted now can be deleted later without taking along what nobody saw.
 */
export type Selection = TraceFilter & { ids?: string[] | undefined; storedUntil?: string | undefined };

/** A selection without a search: that is no condition of SQL, and is looked up first (`lookedUp` in lib/traces/search.ts). */
export type PlainSelection = Omit<Selection, "q"> & { q?: undefined };

/** The columns that a filter compares with one value. */
export const facets = ["source", "model", "project", "machine"] as const;
export type Facet = (typeof facets)[number];

/**
 * The conditions of a selection, among a user's traces that are not deleted.
 *
 * @returns `values` are the parameters of `where` from `$1` on; a query with more of them pushes them behind.
 */
export function conditionsOf(userId: string, selection: PlainSelection): { where: string; values: unknown[] } {
  const { from, to, ids, storedUntil } = selection;
  const values: unknown[] = [];
  const conditions = [`user_id = $${values.push(userId)}`, "deleted_at is null"];
  for (const name of facets) {
    const value = selection[name];
    if (value === undefined) continue;
    const given = `$${values.push(value)}::text`;
    conditions.push(`${name} = ${given} and left(${name}, 32) = left(${given}, 32)`); // the second as the index has it
  }
  if (from) conditions.push(`activity_at >= $${values.push(from)}`);
  if (to) conditions.push(`activity_at < $${values.push(to)}`);
  if (ids) conditions.push(`id = any($${values.push(ids)}::uuid[])`);
  if (storedUntil) conditions.push(`stored_at <= $${values.push(storedUntil)}`);
  return { where: conditions.join(" and "), values };
}
