import "server-only";
import { pool } from "#lib/db/client";
import { conditionsOf } from "#lib/traces/conditions";
import type { TraceFilter } from "#lib/traces/schema";
import { lookedUp } from "#lib/traces/search";

export type Neighbour = { id: string; title: string | null };

/** Of a search, neighbours are told among its newest so many sessions. */
const maxFound = 2000;

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
  const selection = await lookedUp(userId, filter, { limit: maxFound });
  const [newer, older] = await Promise.all([beside(">"), beside("<")]);
  return { newer, older };

  async function beside(comparison: ">" | "<"): Promise<Neighbour | undefined> {
    const { where, values } = conditionsOf(userId, selection);
    const { rows } = await pool().query<Neighbour>(
      `select id, coalesce(title, derived_title) as title from trace
       where ${where} and (activity_at, id) ${comparison}
         (select activity_at, id from trace where user_id = $1 and id = $${values.push(traceId)})
       order by activity_at ${comparison === ">" ? "asc, id asc" : "desc, id desc"} limit 1`,
      values,
    );
    return rows[0];
  }
}
