import "server-only";
import type { ClientBase } from "pg";
import { pool } from "#lib/db/client";
import { queues } from "#lib/queue/queues";

/** SQL: a setting of the connection. */
export const commitLater = (connection: ClientBase) => connection.query("set synchronous_commit = off");

/** SQL: pg-boss's tables are not in schema.prisma. Fails if they are missing. */
export async function hasQueues(): Promise<boolean> {
  const names = Object.values(queues);
  const { rowCount } = await pool().query("select from pgboss.queue where name = any($1)", [names]);
  return rowCount === names.length;
}

/** SQL: pg-boss's tables. @param jobId is qualified with its table, since pg-boss's has an `id` too */
export const hasEntrySql = (jobId: string) =>
  `exists (select 1 from pgboss.job where name in ('${queues.ingest}', '${queues.ingestDead}')
     and state < 'completed' and data ->> 'jobId' = ${jobId}::text)`;
