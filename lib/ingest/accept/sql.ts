// SQL: the body goes by COPY, since `pg` copies a parameter three times, and commits with job and
// queue entry.
import "server-only";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { parse as uuidBytes } from "uuid";
import { holdUsers } from "#lib/auth/sql";
import { copyHeader, copyRow, copyTrailer } from "#lib/core/copy-format";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import type { Queryable } from "#lib/db/client";
import type { Checked, Received } from "#lib/ingest/decode/operations";
import type { PlacedBody } from "#lib/storage/objects";
import { seal } from "#lib/storage/sealed";

export type Sender = { userId: string; machine: string };

export type NewUpload = Sender & Received & { jobId: string; idempotencyKey: string | undefined };

export type Repeated = { earlier: string; holder: string; traces: number; messages: number };

/** A 202 means on disk, and a client is refused within 2 s. */
export const durably = {
  synchronous_commit: "on",
  lock_timeout: "1500ms",
  // A process that is stopped loses its locks.
  idle_in_transaction_session_timeout: "35s",
} as const;

/** @returns false if another job has the idempotency key */
export async function insertJob(tx: Queryable, upload: NewUpload & Checked): Promise<boolean> {
  await holdSenders(tx, [upload]);
  await releaseExpiredKeys(tx, [upload]);
  const { userId, jobId, machine, bytes, sha256, idempotencyKey = null, traces, messages } = upload;
  const { rowCount } = await tx.query(
    `insert into ingest_job (user_id, id, machine, bytes, body_sha256, idempotency_key, traces_received, messages_received)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, idempotency_key) do nothing`,
    [userId, jobId, machine, bytes, Buffer.from(sha256), idempotencyKey, traces, messages],
  );
  return rowCount === 1;
}

export async function copyIntoUpload(
  tx: PoolClient,
  { userId, jobId, manifest, isMasked, stored }: NewUpload & Checked,
): Promise<void> {
  const stream = tx.query(copyFrom("copy upload (user_id, job_id, manifest, masked, body) from stdin (format binary)"));
  const row = copyRow([uuidBytes(userId), uuidBytes(jobId), manifest, Buffer.from([isMasked ? 1 : 0]), seal(stored)]);
  await pipeline(Readable.from([copyHeader, ...row, copyTrailer]), stream);
}

export const isHolderGone = (error: unknown) =>
  (error as { constraint?: string }).constraint === "upload_user_id_held_by_fkey";

/**
 * One statement per user lets one node of a distributed database answer.
 * @returns the uploads that have the bodies, by the new job's id
 */
export async function findHolders(tx: Queryable, userId: string, uploads: NewUpload[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ jobId: string; holder: string }>(
    `select given.job_id as "jobId", same.holder
     from unnest($2::uuid[], $3::bytea[]) as given (job_id, body_sha256) cross join lateral (
       select coalesce(held_by, job_id) as holder
       from ingest_job job join upload on upload.user_id = job.user_id and upload.job_id = job.id
       where job.user_id = $1 and upload.user_id = $1 and job.body_sha256 = given.body_sha256 and removed_at is null
         and not masked limit 1
     ) as same`,
    [userId, uploads.map(({ jobId }) => jobId), uploads.map(({ sha256 }) => Buffer.from(sha256))],
  );
  return new Map(rows.map(({ jobId, holder }) => [jobId, holder]));
}

/** @returns false if the idempotency key is taken, or the earlier upload is gone */
export async function insertRepeated(tx: Queryable, upload: NewUpload, repeated: Repeated): Promise<boolean> {
  await holdSenders(tx, [upload]);
  await releaseExpiredKeys(tx, [upload]);
  const { userId, jobId, machine, bytes, sha256, idempotencyKey = null } = upload;
  const { earlier, holder, traces, messages } = repeated;
  const { rowCount } = await tx.query(
    `with job as (
       insert into ingest_job (user_id, id, machine, bytes, body_sha256, idempotency_key, traces_received, messages_received)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, idempotency_key) do nothing returning id
     )
     insert into upload (user_id, job_id, held_by, manifest, masked)
     select $1, job.id, $10, manifest, masked from job, upload
     where upload.user_id = $1 and upload.job_id = $9 and removed_at is null`,
    [userId, jobId, machine, bytes, Buffer.from(sha256), idempotencyKey, traces, messages, earlier, holder],
  );
  return rowCount === 1;
}

/**
 * All processes take keys in one order, so that no two wait for each other.
 * @returns the uploads whose idempotency keys were free
 */
export async function insertUploads(
  tx: Queryable,
  uploads: (NewUpload & Checked & Partial<PlacedBody>)[],
  holders: ReadonlyMap<string, string>,
): Promise<{ userId: string; jobId: string }[]> {
  await holdSenders(tx, uploads);
  await releaseExpiredKeys(tx, uploads);
  const { rows } = await tx.query<{ userId: string; jobId: string }>(
    `with given as (
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::bytea[], $6::text[], $7::int[], $8::int[],
         $9::bytea[], $10::bytea[], $11::uuid[], $12::text[], $13::int[], $14::bool[])
       as given (user_id, id, machine, bytes, body_sha256, idempotency_key, traces, messages, body, manifest, held_by,
         object, object_bytes, masked)
     ), job as (
       insert into ingest_job (user_id, id, machine, bytes, body_sha256, idempotency_key, traces_received, messages_received)
       select user_id, id, machine, bytes, body_sha256, idempotency_key, traces, messages from given
       order by user_id, idempotency_key, id
       on conflict (user_id, idempotency_key) do nothing returning user_id, id
     )
     insert into upload (user_id, job_id, body, manifest, held_by, object, object_bytes, masked)
     select user_id, id, body, manifest, held_by, object, object_bytes, masked from given join job using (user_id, id)
     returning user_id as "userId", job_id as "jobId"`,
    [
      uploads.map(({ userId }) => userId),
      uploads.map(({ jobId }) => jobId),
      uploads.map(({ machine }) => machine),
      uploads.map(({ bytes }) => bytes),
      uploads.map(({ sha256 }) => Buffer.from(sha256)),
      uploads.map(({ idempotencyKey }) => idempotencyKey ?? null),
      uploads.map(({ traces }) => traces),
      uploads.map(({ messages }) => messages),
      uploads.map(({ jobId, stored, object }) =>
        holders.has(jobId) || object ? null : Buffer.from(seal(stored).buffer),
      ),
      uploads.map(({ manifest }) => Buffer.from(manifest.buffer)),
      uploads.map(({ jobId }) => holders.get(jobId) ?? null),
      uploads.map(({ object }) => object ?? null),
      uploads.map(({ objectBytes }) => objectBytes ?? null),
      uploads.map(({ isMasked }) => isMasked),
    ],
  );
  return rows;
}

/** @throws SpoorError `invalid_token` if an account was deleted meanwhile */
async function holdSenders(tx: Queryable, uploads: NewUpload[]): Promise<void> {
  const senders = new Set(uploads.map(({ userId }) => userId));
  const held = await holdUsers(tx, [...senders], true);
  if (held.size < senders.size) throw new SpoorError("invalid_token");
}

async function releaseExpiredKeys(tx: Queryable, uploads: NewUpload[]): Promise<void> {
  const keyed = uploads.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  if (keyed.length === 0) return;
  await tx.query(
    `update ingest_job job set idempotency_key = null
     from unnest($1::uuid[], $2::text[]) as given (user_id, idempotency_key)
     where job.user_id = given.user_id and job.idempotency_key = given.idempotency_key
       and job.created_at < now() - make_interval(days => $3)`,
    [
      keyed.map(({ userId }) => userId),
      keyed.map(({ idempotencyKey }) => idempotencyKey),
      limits.ingest.idempotencyKeyDays,
    ],
  );
}
