import "server-only";
import { to as copyTo } from "pg-copy-streams";
import { copyHeader } from "#lib/copy-format";
import { pool } from "#lib/db/client";
import { env } from "#lib/env";
import { notFound, SpoorError } from "#lib/errors";
import { inflateFrames } from "#lib/ingest/raw/zstd-frames";
import { limits } from "#lib/limits";
import { log } from "#lib/log";
import { streamOf } from "#lib/streams";

/** What stands before the value in a binary COPY of one row with one column: the header, and the number of columns. */
const headerBytes = copyHeader.length + 2;

/**
 * The stored bytes of an upload: its body or its manifest. They come by COPY, whose binary form is the bytes themselves:
 * `pg` has no binary results, and as text they would be twice as many and have to be decoded on the event loop.
 *
 * @returns null for a manifest that was not made.
 * @throws SpoorError `not_found` where the upload is no longer kept.
 */
export async function readUpload(
  userId: string,
  jobId: string,
  column: "body" | "manifest",
): Promise<Uint8Array<ArrayBuffer> | null> {
  const client = await pool().connect();
  let broken: Error | undefined;
  try {
    const where = `user_id = ${client.escapeLiteral(userId)} and job_id = ${client.escapeLiteral(jobId)}`;
    const copied = copyTo(`copy (select ${column} from upload where ${where}) to stdout (format binary)`);
    return await readField(client.query(copied));
  } catch (error) {
    if (!(error instanceof SpoorError)) broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The one value in a binary COPY, in memory of its own; null where it is NULL. @throws SpoorError `not_found` without a row */
async function readField(copied: AsyncIterable<Buffer>): Promise<Uint8Array<ArrayBuffer> | null> {
  let head = Buffer.alloc(0);
  let field: Uint8Array<ArrayBuffer> | undefined;
  let at = 0;
  for await (const chunk of copied) {
    let rest = chunk;
    if (!field) {
      head = Buffer.concat([head, chunk]);
      // Without a row there is the trailer in its place, which is shorter than a field's length.
      if (head.length < headerBytes + 4) continue;
      field = new Uint8Array(Math.max(0, head.readInt32BE(headerBytes)));
      rest = head.subarray(headerBytes + 4);
    }
    const part = rest.subarray(0, field.length - at);
    field.set(part, at);
    at += part.length;
  }
  if (!field) throw noLongerKept();
  return head.readInt32BE(headerBytes) < 0 ? null : field;
}

/** Body and manifest of a small upload, in one query. @throws SpoorError `not_found` where it is no longer kept */
export async function readSmallUpload(
  userId: string,
  jobId: string,
): Promise<{ body: Uint8Array<ArrayBuffer>; manifest: Uint8Array<ArrayBuffer> | null }> {
  const { rows } = await pool().query("select body, manifest from upload where user_id = $1 and job_id = $2", [
    userId,
    jobId,
  ]);
  if (!rows[0]) throw noLongerKept();
  return rows[0];
}

const noLongerKept = () => new SpoorError("not_found", "The upload is no longer kept. Send it again.");

/** How much of a stored body one query reads, in bytes. Between two of them no connection is held. */
const sliceBytes = 1 << 20;

/**
 * The JSON of an upload as it was sent, inflated as it is read: memory stays the same however large it is, and a slow
 * reader holds no database connection. The stream ends early, with an error, where the upload goes away meanwhile.
 *
 * @throws SpoorError `not_found` for an upload that is no longer kept, and for another user's as well
 */
export async function streamUpload(userId: string, jobId: string): Promise<ReadableStream<Uint8Array>> {
  const { rowCount } = await pool().query("select 1 from upload where user_id = $1 and job_id = $2", [userId, jobId]);
  if (rowCount === 0) throw notFound();
  return streamOf(inflateFrames(slices(userId, jobId)), (error) =>
    log.warn({ err: error, jobId }, "the download of an upload broke off"),
  );
}

/** A stored body in parts. It is kept uncompressed by PostgreSQL (STORAGE EXTERNAL), so that a part costs what it has. */
async function* slices(userId: string, jobId: string): AsyncGenerator<Buffer> {
  for (let at = 1; ; at += sliceBytes) {
    const { rows } = await pool().query<{ slice: Buffer }>(
      "select substring(body from $3 for $4) as slice from upload where user_id = $1 and job_id = $2",
      [userId, jobId, at, sliceBytes],
    );
    const [row] = rows;
    if (!row) throw new Error("the upload was removed while it was read");
    if (row.slice.byteLength > 0) yield row.slice;
    if (row.slice.byteLength < sliceBytes) return;
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

/** Takes back the idempotency keys that are past their time. @returns how many */
export async function purgeIdempotencyKeys(): Promise<number> {
  const { rowCount } = await pool().query(
    `update ingest_job set idempotency_key = null
     where idempotency_key is not null and created_at < now() - make_interval(days => $1)`,
    [limits.ingest.idempotencyKeyDays],
  );
  return rowCount ?? 0;
}
