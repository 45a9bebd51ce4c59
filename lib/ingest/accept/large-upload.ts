// Puts an upload on disk, with its job and its queue entry, in one transaction.
import "server-only";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { parse as uuidBytes } from "uuid";
import { copyHeader, copyRow, copyTrailer } from "#lib/copy-format";
import { type Queryable, transaction } from "#lib/db/client";
import type { Found, Received } from "#lib/ingest/decode/operations";
import { limits } from "#lib/limits";
import { free } from "#lib/memory";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";

/** A sender as an upload notes it. */
export type Sender = { userId: string; machine: string };

/** An upload that is about to be stored. */
export type NewUpload = Sender & Received & { jobId: string; idempotencyKey: string | undefined };

/** A body that came before: the id of that job, whose upload is copied. */
export type Repeated = { earlier: string; traces: number; messages: number };

/** What is acknowledged is on disk, however the server is set otherwise; a client hears within 2 s that it can't be. */
export const durably = {
  synchronous_commit: "on",
  lock_timeout: "1500ms",
  // A process that stops (not ends) while a body is being read lets go of it: a little longer than the reading may take.
  idle_in_transaction_session_timeout: "35s",
};

/**
 * Stores an upload whose body is still being read: it is written meanwhile, and taken back where it turns out not to be
 * valid. When this returns, it is on disk with its job and its queue entry.
 *
 * Its idempotency key and its place in the order of the user's uploads are taken when the reading has ended: until then
 * nobody waits for the one, and what is acknowledged meanwhile comes before it.
 *
 * @param packing what is stored of the body.
 * @param reading what the body is found to be.
 * @returns false where the idempotency key came before, and nothing was stored.
 * @throws what `packing` and `reading` throw
 */
export async function storeWhileReading(
  upload: NewUpload,
  packing: Promise<Uint8Array<ArrayBuffer>>,
  reading: Promise<Found>,
): Promise<boolean> {
  return storing(upload, begin, async (tx) => {
    const body = await packing;
    await copyBody(tx, upload, body);
    free(body);
    await complete(tx, upload, await reading);
  });
}

/** A job of which neither its key nor what is in it is known yet. */
async function begin(tx: Queryable, { userId, jobId, machine, bytes, sha256 }: NewUpload): Promise<void> {
  await tx.query(
    `insert into ingest_job (user_id, id, machine, bytes, body_sha256, traces_received, messages_received)
     values ($1, $2, $3, $4, $5, 0, 0)`,
    [userId, jobId, machine, bytes, Buffer.from(sha256)],
  );
}

/** Inserts an upload's body. As a parameter of a query it would be copied three times on its way. */
async function copyBody(tx: PoolClient, { userId, jobId }: NewUpload, body: Uint8Array): Promise<void> {
  const stream = tx.query(copyFrom("copy upload (user_id, job_id, body) from stdin (format binary)"));
  const row = copyRow([uuidBytes(userId), uuidBytes(jobId), body]);
  await pipeline(Readable.from([copyHeader, ...row, copyTrailer]), stream);
}

/** What is known of an upload once it was read. @throws `notStored` where its idempotency key came before */
async function complete(tx: Queryable, upload: NewUpload, { manifest, traces, messages }: Found): Promise<void> {
  await freeOldKeys(tx, [upload]);
  await tx
    .query(
      `with job as (
         update ingest_job set traces_received = $3, messages_received = $4, idempotency_key = $5, sequence = default
         where user_id = $1 and id = $2
       )
       update upload set manifest = $6 where user_id = $1 and job_id = $2`,
      [upload.userId, upload.jobId, traces, messages, upload.idempotencyKey ?? null, Buffer.from(manifest.buffer)],
    )
    .catch((error) => {
      throw error.code === uniqueViolation ? notStored : error;
    });
}

const uniqueViolation = "23505";

/** Stores an upload that repeats an earlier one. @returns false also where that one is gone */
export function storeRepeated(upload: NewUpload, repeated: Repeated): Promise<boolean> {
  return storing(upload, (tx) => insertRepeated(tx, upload, repeated));
}

/** Why a transaction is rolled back. */
const notStored = new Error("the upload was not stored");

/** Runs the steps of storing an upload, with its queue entry between them, in one transaction. */
async function storing(
  upload: NewUpload,
  begin: (tx: PoolClient, upload: NewUpload) => Promise<void>,
  finish: (tx: PoolClient) => Promise<void> = async () => {},
): Promise<boolean> {
  await prepareQueue();
  try {
    await transaction(async (tx) => {
      await begin(tx, upload);
      await enqueue(tx, queues.ingest, [{ userId: upload.userId, jobId: upload.jobId }]);
      await finish(tx);
    }, durably);
    return true;
  } catch (error) {
    if (error === notStored) return false;
    throw error;
  }
}

/** Inserts the rows of an upload, its body and manifest from the earlier one. @throws `notStored` */
async function insertRepeated(
  tx: Queryable,
  upload: NewUpload,
  { earlier, traces, messages }: Repeated,
): Promise<void> {
  await freeOldKeys(tx, [upload]);
  const { rowCount } = await tx.query(
    `with job as (
       insert into ingest_job (user_id, id, machine, bytes, body_sha256, idempotency_key, traces_received, messages_received)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, idempotency_key) do nothing returning id
     )
     insert into upload (user_id, job_id, body, manifest)
     select $1, job.id, body, manifest from job, upload where upload.user_id = $1 and upload.job_id = $9`,
    [
      upload.userId,
      upload.jobId,
      upload.machine,
      upload.bytes,
      Buffer.from(upload.sha256),
      upload.idempotencyKey ?? null,
      traces,
      messages,
      earlier,
    ],
  );
  if (rowCount === 0) throw notStored;
}

/** A key of longer ago than it is kept may name another upload. */
export async function freeOldKeys(tx: Queryable, uploads: NewUpload[]): Promise<void> {
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
