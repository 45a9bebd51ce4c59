import { pool } from "#lib/db/client";
import { indexNext } from "#lib/search/index/indexer";
import { listTraces } from "#lib/traces/queries";

/** Indexes everything that waits. */
export async function indexAll(): Promise<void> {
  while ((await indexNext()) > 0);
}

/** Removes all traces and the index. */
export async function clearTraces(): Promise<void> {
  await pool().query("delete from trace");
  await pool().query("delete from search_block");
}

/** The source ids of what a user's search finds, sorted. */
export async function searchSourceIds(userId: string, q: string, filter = {}): Promise<string[]> {
  const { traces } = await listTraces(userId, { q, ...filter }, { limit: 200 });
  return traces.map(({ sourceId }) => sourceId).toSorted();
}
