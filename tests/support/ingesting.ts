import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { failJob } from "#lib/ingest/process/attempts";

/** Makes a trace whose messages have these contents. */
export const trace = (sourceId: string, ...contents: string[]) => ({
  sourceId,
  messages: contents.map((content, position) => ({ position, content })),
});

/** Accepts a batch as the route does. @returns the job's id */
export function accept(userId: string, ...traces: unknown[]): Promise<string> {
  return acceptBatch({ userId, machine: "test" }, Buffer.from(JSON.stringify({ traces })), "identity", undefined);
}

/** Accepts a batch whose job has failed and whose queue entry is gone. @returns the job's id */
export async function acceptFailed(userId: string, ...traces: unknown[]): Promise<string> {
  const jobId = await accept(userId, ...traces);
  await failJob({ userId, jobId }, "processing_failed", "It could not be processed.");
  await pool().query("delete from pgboss.job where data ->> 'jobId' = $1", [jobId]);
  return jobId;
}

/** Counts open queue entries, of one job or of all. */
export async function entries(jobId?: string): Promise<number> {
  const { rows } = await pool().query(
    `select count(*)::int as count from pgboss.job
     where name = 'ingest' and state < 'completed' and ($1::text is null or data ->> 'jobId' = $1)`,
    [jobId ?? null],
  );
  return rows[0].count;
}
