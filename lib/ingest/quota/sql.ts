// SQL: sums of sizes and advisory locks.
import "server-only";
import { pool, type Queryable } from "#lib/db/client";
import { run, type Transaction } from "#lib/db/sql/run";
import type { TraceSize } from "#lib/ingest/decode/operations";

/** Distinguishes these locks from others. */
const lockClass = 20_261_122;

export async function lockQuota(tx: Transaction, userId: string): Promise<void> {
  // Prisma can't read a result of the type void.
  await run(tx, "select 1 as locked from (select pg_advisory_xact_lock($1::int, hashtext($2))) as waited", [
    lockClass,
    userId,
  ]);
}

/** The key is also in an index. */
const textBytes = `2 * (octet_length(trace.source) + octet_length(trace.source_id)) + coalesce(octet_length(trace.title), 0)
  + coalesce(octet_length(trace.derived_title), 0) + coalesce(octet_length(trace.model), 0)
  + coalesce(octet_length(trace.project), 0)`;

/** Part of a trace's row stays after a deletion, and an earlier version did not measure messages. */
const traceBytes = `512 + ${textBytes} + coalesce(pg_column_size(trace.metadata), 0) + coalesce(trace.stored_bytes, trace.messages_bytes,
  (select sum(octet_length(content) + coalesce(pg_column_size(metadata), 0) + 80) from message
   where message.user_id = $1::uuid and message.trace_id = trace.id), 0)`;

const pictureBytes = "200 + coalesce(octet_length(body), object_bytes, 0)";

const partBytes = "200 + bytes";

/** Includes the rows that list its parts, each with the session's key. */
const originalBytes =
  "512 + octet_length(head) + parts::bigint * (130 + 2 * (octet_length(source) + octet_length(source_id)))";

/** Both columns are stored uncompressed, so that their length is known without reading them. */
const uploadBytes = "coalesce(octet_length(body), object_bytes, 0) + coalesce(octet_length(manifest), 0)";

/** A body that uploads share counts once, for the upload that counts most. `$1` is the user's id. */
const bodies = `select max(job_id::text)::uuid as newest, sum(${uploadBytes}) as bytes, coalesce(held_by, job_id) as holder,
     case when bool_or(removed_at is null and status = 'failed') then 'failed'
       when bool_or(removed_at is null and status in ('queued', 'running')) then 'waiting' else 'copy' end as kind
   from upload join ingest_job job on job.user_id = upload.user_id and job.id = upload.job_id
   where upload.user_id = $1::uuid and job.user_id = $1::uuid group by coalesce(held_by, job_id)`;

/** `used` counts against the quota; `waiting` and `copies` are raw uploads of open and of succeeded jobs. */
export type StoredSums = { used: number; waiting: number; copies: number };

/** In bytes. */
export async function readStored(userId: string, tx: Transaction = pool()): Promise<StoredSums> {
  const [stored] = await run<StoredSums>(
    tx,
    `select (traces + pictures + parts + originals + reserved + failed)::float8 as used, waiting::float8, copies::float8 from
       (select coalesce(sum(${traceBytes}), 0) as traces from trace where user_id = $1::uuid) as traces,
       (select coalesce(sum(${pictureBytes}), 0) as pictures from picture where user_id = $1::uuid) as stored_pictures,
       (select coalesce(sum(${partBytes}), 0) as parts from original_part where user_id = $1::uuid) as stored_parts,
       (select coalesce(sum(${originalBytes}), 0) as originals from original where user_id = $1::uuid) as stored_originals,
       (select coalesce(sum(coalesce(reserved_bytes, bytes)), 0) as reserved from ingest_job
        where user_id = $1::uuid and status <> 'succeeded' and status in ('queued', 'running')) as jobs,
       (select coalesce(sum(bytes) filter (where kind = 'failed'), 0) as failed,
          coalesce(sum(bytes) filter (where kind = 'waiting'), 0) as waiting,
          coalesce(sum(bytes) filter (where kind = 'copy'), 0) as copies from (${bodies}) as body) as uploads`,
    [userId],
  );
  return stored ?? { used: 0, waiting: 0, copies: 0 };
}

export async function reserve(tx: Queryable, userId: string, jobId: string, sizes: TraceSize[]): Promise<void> {
  const { rows } = await tx.query<{ place: string; bytes: number; deleted: boolean }>(
    // The limit makes the planner look up each key.
    `select place, stored.* from unnest($2::text[], $3::text[]) with ordinality as given (source, source_id, place)
     cross join lateral (select (${traceBytes})::float8 as bytes, deleted_at is not null as deleted from trace
       where user_id = $1 and trace.source = given.source and trace.source_id = given.source_id limit 1) as stored`,
    [userId, sizes.map(({ source }) => source), sizes.map(({ sourceId }) => sourceId)],
  );
  const stored = new Map(rows.map(({ place, ...row }) => [Number(place), row]));
  const grown = sizes.map(({ bytes, isMore }, place) => {
    const { bytes: before, deleted } = stored.get(place + 1) ?? { bytes: 0, deleted: false };
    return deleted ? 0 : Math.max(0, 512 + bytes - (isMore ? 0 : before));
  });
  await tx.query("update ingest_job set reserved_bytes = $3 where user_id = $1 and id = $2", [
    userId,
    jobId,
    grown.reduce((sum, bytes) => sum + bytes, 0),
  ]);
}

/** The key, and a title made of a message. */
const maxRepeatedBytes = 4096;

export async function reserveWhole(tx: Transaction, userId: string, jobIds: string[]): Promise<void> {
  await run(
    tx,
    `update ingest_job set reserved_bytes = bytes::bigint + 80 * messages_received + (512 + ${maxRepeatedBytes}) * traces_received
     where user_id = $1::uuid and id = any($2::uuid[])`,
    [userId, jobIds],
  );
}

export async function deleteCopies(tx: Transaction, userId: string, bytes: number): Promise<void> {
  const gone = await run<{ object: string | null }>(
    tx,
    `delete from upload where user_id = $1::uuid and coalesce(held_by, job_id) in (
       select holder from (
         select holder, sum(bytes) over (order by newest) - bytes as before from (${bodies}) as body where kind = 'copy'
       ) as copies where before < $2::bigint) returning object`,
    [userId, bytes],
  );
  const keys = gone.flatMap(({ object }) => object ?? []);
  if (keys.length > 0) await run(tx, "insert into object_removal (key) select unnest($1::text[])", [keys]);
}
