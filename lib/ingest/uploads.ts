import "server-only";
import { to as copyTo } from "pg-copy-streams";
import { pool } from "#lib/db/client";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";

/** What stands before the value in a binary COPY of one row with one column: signature, flags, extension, column count. */
const headerBytes = 11 + 4 + 4 + 2;

/**
 * The stored bytes of an upload: its body or its manifest. They come by COPY, whose binary form is the bytes themselves:
 * `pg` has no binary results, and as text they would be twice as many and have to be decoded on the event loop.
 *
 * @returns undefined for a manifest that was not made.
 * @throws SpoorError `not_found` where the upload is no longer kept.
 */
export async function readUpload(
  userId: string,
  jobId: string,
  column: "body" | "manifest",
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const client = await pool().connect();
  let broken: Error | undefined;
  try {
    const where = `user_id = ${client.escapeLiteral(userId)} and job_id = ${client.escapeLiteral(jobId)}`;
    const chunks: Buffer[] = [];
    for await (const chunk of client.query(
      copyTo(`copy (select ${column} from upload where ${where}) to stdout (format binary)`),
    )) {
      chunks.push(chunk);
    }
    const copied = Buffer.concat(chunks);
    const hasRow = copied.readInt16BE(headerBytes - 2) === 1;
    if (!hasRow) throw new SpoorError("not_found", "The upload is no longer kept. Send it again.");
    const bytes = copied.readInt32BE(headerBytes);
    return bytes < 0 ? undefined : new Uint8Array(copied.subarray(headerBytes + 4, headerBytes + 4 + bytes));
  } catch (error) {
    if (!(error instanceof SpoorError)) broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Removes the raw uploads of jobs that succeeded longer ago than `UPLOAD_RETENTION_DAYS`. @returns how many */
export async function purgeUploads(): Promise<number> {
  const { rowCount } = await pool().query(
    `delete from upload using ingest_job job
     where job.user_id = upload.user_id and job.id = upload.job_id
       and job.status = 'succeeded' and job.finished_at < now() - make_interval(days => $1)`,
    [env().UPLOAD_RETENTION_DAYS],
  );
  return rowCount ?? 0;
}
