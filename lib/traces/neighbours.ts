import "server-only";
import { pool } from "#lib/db/client";
import { filterSql, filterValues } from "#lib/traces/queries";
import type { TraceFilter } from "#lib/traces/schema";

export type Neighbour = { id: string; title: string | null };

/**
 * The traces beside one in a user's filtered list, newest activity first.
 *
 * @returns `newer` stands before it in the list, `older` behind it; either may be missing.
 */
export async function neighbours(
  userId: string,
  traceId: string,
  filter: TraceFilter,
): Promise<{ newer: Neighbour | undefined; older: Neighbour | undefined }> {
  const [newer, older] = await Promise.all([beside(">"), beside("<")]);
  return { newer, older };

  async function beside(comparison: ">" | "<"): Promise<Neighbour | undefined> {
    const values = filterValues(userId, filter);
    const { rows } = await pool().query<Neighbour>(
      `select id, coalesce(title, derived_title) as title from trace
       where ${filterSql} and (activity_at, id) ${comparison}
         (select activity_at, id from trace where user_id = $1 and id = $${values.length + 1})
       order by activity_at ${comparison === ">" ? "asc, id asc" : "desc, id desc"} limit 1`,
      [...values, traceId],
    );
    return rows[0];
  }
}
