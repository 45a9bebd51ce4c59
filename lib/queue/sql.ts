import "server-only";
import type { ClientBase } from "pg";
import { pool } from "#lib/db/client";
import { queues } from "#lib/queue/queues";

/** Sets up a connection of a worker's queue (lib/queue/worker-boss.ts). SQL: a setting. */
export const commitLater = (connection: ClientBase) => connection.query("set synchronous_commit = off");

/** Whether pg-boss's tables and all queues are there. SQL, as below; it fails where the schema is missing. */
export async function hasQueues(): Promise<boolean> {
  const names = Object.values(queues);
  const { rowCount } = await pool().query("select from pgboss.queue where name = any($1)", [names]);
  return rowCount === names.length;
}

/**
 * A condition: whether an ingest job has a queue entry that waits, runs, or is to be marked as failed. SQL, because
 * pg-boss's tables are not in schema.prisma.
 *
 * @param jobId SQL for the job's id, qualified with its table: pg-boss's table has an `id` column of its own.
 */
export const hasEntrySql = (jobId: string) =>
  `exists (select 1 from pgboss.job where name in ('${queues.ingest}', '${queues.ingestDead}')
     and state < 'completed' and data ->> 'jobId' = ${jobId}::text)`;
