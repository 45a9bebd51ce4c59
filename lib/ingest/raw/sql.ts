// Reading stored bytes. It is SQL because Prisma returns a whole value decoded on the event loop, while these are read by
// COPY or in slices. And deleting those of failed jobs, whose rows Prisma can't lock against a replay.
import "server-only";
import { to as copyTo } from "pg-copy-streams";
import { copyHeader } from "#lib/copy-format";
import { pool, transaction } from "#lib/db/client";

type OwnBytes = Uint8Array<ArrayBuffer>;

/** What precedes the value in a binary COPY of one row with one column: the header, and the number of columns. */
const headerBytes = copyHeader.length + 2;

const copyStatements = {
  body: copyOf("body"),
  manifest: copyOf("manifest"),
};

/** COPY takes no parameters: the ids come from settings of the transaction, which `copyUpload` binds. */
function copyOf(column: "body" | "manifest"): string {
  return `copy (select ${column} from upload where user_id = current_setting('spoor.user_id')::uuid
    and job_id = current_setting('spoor.job_id')::uuid) to stdout (format binary)`;
}

/**
 * The stored bytes of an upload, by COPY: `pg` has no binary results, and as text they would be twice as many and have to
 * be decoded on the event loop.
 *
 * @returns null if the column is NULL, undefined if there is no such upload.
 */
export function copyUpload(
  userId: string,
  jobId: string,
  column: "body" | "manifest",
): Promise<OwnBytes | null | undefined> {
  return transaction(async (tx) => {
    await tx.query("select set_config('spoor.user_id', $1, true), set_config('spoor.job_id', $2, true)", [
      userId,
      jobId,
    ]);
    return readField(tx.query(copyTo(copyStatements[column])));
  });
}

/** The one value in a binary COPY, in separate memory. @returns null where it is NULL, undefined without a row */
async function readField(copied: AsyncIterable<Buffer>): Promise<OwnBytes | null | undefined> {
  let head = Buffer.alloc(0);
  let field: OwnBytes | undefined;
  let at = 0;
  for await (const chunk of copied) {
    let rest = chunk;
    if (!field) {
      head = Buffer.concat([head, chunk]);
      // Without a row the trailer follows the header, which is shorter than a field's length.
      if (head.length < headerBytes + 4) continue;
      field = new Uint8Array(Math.max(0, head.readInt32BE(headerBytes)));
      rest = head.subarray(headerBytes + 4);
    }
    const part = rest.subarray(0, field.length - at);
    field.set(part, at);
    at += part.length;
  }
  return field && head.readInt32BE(headerBytes) < 0 ? null : field;
}

/** Body and manifest of a small upload, in one query: COPY takes four round trips for each of them. */
export async function selectSmallUpload(
  userId: string,
  jobId: string,
): Promise<{ body: OwnBytes; manifest: OwnBytes | null } | undefined> {
  const { rows } = await pool().query<{ body: OwnBytes; manifest: OwnBytes | null }>(
    "select body, manifest from upload where user_id = $1 and job_id = $2",
    [userId, jobId],
  );
  return rows[0];
}

/**
 * Part of a stored body. PostgreSQL keeps it uncompressed (STORAGE EXTERNAL), so that a slice costs what it has.
 *
 * @param from the first byte's number, from 1.
 * @returns undefined if there is no such upload.
 */
export async function selectBodySlice(
  userId: string,
  jobId: string,
  from: number,
  bytes: number,
): Promise<Buffer | undefined> {
  const { rows } = await pool().query<{ slice: Buffer }>(
    "select substring(body from $3 for $4) as slice from upload where user_id = $1 and job_id = $2",
    [userId, jobId, from, bytes],
  );
  return rows[0]?.slice;
}

/** Deletes the uploads of jobs that failed so many days ago, and has the jobs say so. @returns how many */
export async function deleteFailedUploads(days: number): Promise<number> {
  const { rowCount } = await pool().query(
    `with due as (
       select user_id, id from ingest_job where status <> 'succeeded' and status = 'failed'
         and finished_at < now() - make_interval(days => $1) for update skip locked
     ), gone as (
       delete from upload using due where upload.user_id = due.user_id and upload.job_id = due.id
       returning due.user_id, due.id
     )
     update ingest_job job set error_message = concat(error_message, ' The upload was removed ', $1, ' days after that.')
     from gone where job.user_id = gone.user_id and job.id = gone.id`,
    [days],
  );
  return rowCount ?? 0;
}
