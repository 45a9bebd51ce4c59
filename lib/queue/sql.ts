import "server-only";
import { queues } from "#lib/queue/queues";

/**
 * A condition: whether an ingest job has a queue entry that waits, runs, or is to be marked as failed. SQL, because
 * pg-boss's tables are not in schema.prisma.
 *
 * @param jobId SQL for the job's id, qualified with its table: pg-boss's table has an `id` column of its own.
 */
export const hasEntrySql = (jobId: string) =>
  `exists (select 1 from pgboss.job where name in ('${queues.ingest}', '${queues.ingestDead}')
     and state < 'completed' and data ->> 'jobId' = ${jobId}::text)`;
