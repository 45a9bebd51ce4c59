// Puts uploads on disk: each with its job and its queue entry in one transaction.
import "server-only";
import { type Queryable, transaction } from "#lib/db/client";
import { isOutage } from "#lib/errors";
import type { Checked, Received } from "#lib/ingest/operations";
import { limits } from "#lib/limits";
import { enqueue, prepareQueue, queues } from "#lib/queue";

/** A sender as an upload notes it. */
export type Sender = { userId: string; machine: string };

/** A body that came before: the id of that job, whose upload is copied. */
export type Repeated = { earlier: string; traces: number; messages: number };

/** What is stored of a body that was read, either as it was found to be or as the upload of an earlier job. */
export type UploadContent = Received & (Checked | Repeated);

export type NewUpload = Sender & UploadContent & { jobId: string; idempotencyKey: string | undefined };

/**
 * Stores an upload. When this returns, it is on disk with its job and its queue entry.
 *
 * Small ones that come at once are written together: each transaction of its own would wait for the disk by itself
 * (16 connections with uploads of ten messages: 290 a second one by one).
 *
 * @returns false where nothing was stored: the idempotency key came before, or the upload that this one repeats is gone.
 */
export async function storeUpload(upload: NewUpload): Promise<boolean> {
  await prepareQueue();
  if ("earlier" in upload || upload.stored.byteLength > smallBytes) return storeAlone(upload);
  return storeWithOthers(upload);
}

/** What is acknowledged is on disk, however the server is set otherwise; a client hears within 2 s that it can't be. */
const durably = { synchronous_commit: "on", lock_timeout: "1500ms" };

/** The largest that is written together with others, as it is stored. */
const smallBytes = 32 * 1024;
/** How many are written together at most. */
const mostTogether = 64;
/** How many such transactions run at once: the second goes on where the first has to wait for another process's key. */
const mostWriters = 2;

type Small = NewUpload & Checked;
type Pending = { upload: Small; resolve: (isStored: boolean) => void; reject: (error: unknown) => void };

const pending: Pending[] = [];
let writers = 0;

function storeWithOthers(upload: Small): Promise<boolean> {
  return new Promise((resolve, reject) => {
    pending.push({ upload, resolve, reject });
    if (writers < mostWriters) write();
  });
}

/** Writes what is pending, and what comes meanwhile, until nothing is left. */
async function write(): Promise<void> {
  writers += 1;
  // Those that arrived in the same turn of the event loop go together.
  await new Promise((resolve) => setImmediate(resolve));
  while (pending.length > 0) {
    const group = pending.splice(0, mostTogether);
    try {
      const stored = await storeTogether(group.map(({ upload }) => upload));
      for (const { upload, resolve } of group) resolve(stored.has(upload.jobId));
    } catch (error) {
      if (isOutage(error)) {
        // Whoever waits behind them would only learn the same later.
        for (const { reject } of [...group, ...pending.splice(0)]) reject(error);
        continue;
      }
      // What one of them is at fault for must not be the others' fault too.
      for (const { upload, resolve, reject } of group) await storeAlone(upload).then(resolve, reject);
    }
  }
  writers -= 1;
}

/** Stores uploads in one transaction. @returns the ids of the jobs that were new */
async function storeTogether(uploads: Small[]): Promise<Set<string>> {
  return transaction(async (tx) => {
    await freeOldKeys(tx, uploads);
    const { rows } = await tx.query<{ userId: string; jobId: string }>(
      `with given as (
         select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::bytea[], $6::text[], $7::int[], $8::int[],
           $9::bytea[], $10::bytea[])
         as given (user_id, id, machine, bytes, body_sha256, idempotency_key, traces, messages, body, manifest)
       ), job as (
         insert into ingest_job (user_id, id, machine, bytes, body_sha256, idempotency_key, traces_received, messages_received)
         select user_id, id, machine, bytes, body_sha256, idempotency_key, traces, messages from given
         order by idempotency_key, id
         on conflict (user_id, idempotency_key) do nothing returning user_id, id
       )
       insert into upload (user_id, job_id, body, manifest)
       select user_id, id, body, manifest from given join job using (user_id, id)
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
        uploads.map(({ stored }) => Buffer.from(stored.buffer)),
        uploads.map(({ manifest }) => Buffer.from(manifest.buffer)),
      ],
    );
    await enqueue(tx, queues.ingest, rows);
    return new Set(rows.map(({ jobId }) => jobId));
  }, durably);
}

/** Why a transaction is rolled back. */
const notStored = new Error("the upload was not stored");

async function storeAlone(upload: NewUpload): Promise<boolean> {
  const { userId, jobId } = upload;
  try {
    await transaction(async (tx) => {
      await freeOldKeys(tx, [upload]);
      const [from, values] =
        "earlier" in upload
          ? ["body, manifest from job, upload where upload.user_id = $1 and upload.job_id = $9", [upload.earlier]]
          : ["$9, $10 from job", [Buffer.from(upload.stored.buffer), Buffer.from(upload.manifest.buffer)]];
      const { rowCount } = await tx.query(
        `with job as (
           insert into ingest_job (user_id, id, machine, bytes, body_sha256, idempotency_key, traces_received, messages_received)
           values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, idempotency_key) do nothing returning id
         )
         insert into upload (user_id, job_id, body, manifest) select $1, job.id, ${from}`,
        [
          userId,
          jobId,
          upload.machine,
          upload.bytes,
          Buffer.from(upload.sha256),
          upload.idempotencyKey ?? null,
          upload.traces,
          upload.messages,
          ...values,
        ],
      );
      if (rowCount === 0) throw notStored;
      await enqueue(tx, queues.ingest, [{ userId, jobId }]);
    }, durably);
    return true;
  } catch (error) {
    if (error === notStored) return false;
    throw error;
  }
}

/** A key of longer ago than it is kept may name another upload. */
async function freeOldKeys(tx: Queryable, uploads: NewUpload[]): Promise<void> {
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
