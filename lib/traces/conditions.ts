import "server-only";
import type pg from "pg";
import { pool, queryWith } from "#lib/db/client";
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

/**
 * Runs a statement over the traces of a selection in the list's order, which its index has. PostgreSQL takes the conditions of
 * one column for independent and a page away from the last one for costly, and would go through the whole table and sort
 * (best of ten: 23 ms for one project of 50,000 traces, 0.7 ms so; 3.9 ms for the count of them all, 1.5 ms so).
 */
export function queryInOrder<R extends pg.QueryResultRow>(
  statement: string,
  values: unknown[],
): Promise<pg.QueryResult<R>> {
  const plain = values.filter((value) => typeof value === "string" || typeof value === "number");
  // Ids that a search found are looked up by themselves.
  if (plain.length < values.length) return pool().query<R>(statement, values);
  return queryWith<R>({ random_page_cost: "1.1" }, statement, plain);
}
