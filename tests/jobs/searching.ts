import { pool } from "#lib/db/client";
import { indexNext } from "#lib/search/indexer";
import { listTraces } from "#lib/traces/queries";

/** Indexes everything that waits. */
export async function indexAll(): Promise<void> {
  while ((await indexNext()) > 0);
}

/** As if the schema had been migrated so long ago, where there were accounts before. */
async function migrated(ago: string): Promise<void> {
  await pool().query("update _prisma_migrations set finished_at = now() - $1::interval", [ago]);
  await pool().query(`update "user" set created_at = now() - interval '1 year'`);
}

/** Runs `work` while processes of the release before may still run. */
export async function whileUpgrading<T>(work: () => Promise<T>): Promise<T> {
  await migrated("1 hour");
  try {
    return await work();
  } finally {
    await migrated("2 days");
  }
}

/** Removes all traces and the index. */
export async function clearTraces(): Promise<void> {
  await pool().query("delete from trace");
  await pool().query("delete from message_pack");
  await pool().query("delete from search_block");
}

/** The source ids of what a user's search finds, sorted. */
export async function searchSourceIds(userId: string, q: string, filter = {}): Promise<string[]> {
  const { traces } = await listTraces(userId, { q, ...filter }, { limit: 200 });
  return traces.map(({ sourceId }) => sourceId).toSorted();
}
