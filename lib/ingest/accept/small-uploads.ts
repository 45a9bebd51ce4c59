// Small uploads that come at once are stored together: each transaction of its own would wait for the disk by itself.
import "server-only";
import { coalesce, type Pending as PendingItem } from "#lib/coalesce";
import { transaction } from "#lib/db/client";
import { isOutage } from "#lib/errors";
import { durably, freeOldKeys, type NewUpload } from "#lib/ingest/accept/large-upload";
import type { Checked } from "#lib/ingest/decode/operations";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";

/** How many are written together at most. */
const maxPerGroup = 64;
/** How many such transactions run at once: the second goes on where the first has to wait for another process's key. */
const maxWriters = 2;

type Small = NewUpload & Checked;
type Pending = PendingItem<Small, boolean>;

const store = coalesce(settle, { maxGroup: maxPerGroup, maxInFlight: maxWriters });

/**
 * Stores a small upload with those that come at the same time (16 connections with uploads of ten messages: 450 a second, one
 * by one 290). When this returns, it is on disk with its job and its queue entry.
 *
 * @returns false where its idempotency key came before, and nothing was stored.
 */
export async function storeSmall(upload: Small): Promise<boolean> {
  await prepareQueue();
  return store(upload);
}

/** Stores uploads together. What one of them is at fault for, or waits for, must not be the others' fault too. */
async function settle(group: Pending[]): Promise<void> {
  try {
    const stored = await storeTogether(group.map(({ item }) => item));
    for (const { item, resolve } of group) resolve(stored.has(item.jobId));
  } catch (error) {
    if (isOutage(error) && !isForLock(error)) throw error;
    const parts = isForLock(error) ? byUser(group) : singly(group);
    if (parts.length === 1) for (const { reject } of group) reject(error);
    else for (const part of parts) await settle(part);
  }
}

const isForLock = (error: unknown) => ["55P03", "40P01"].includes((error as { code?: string }).code ?? "");

const singly = (group: Pending[]) => group.map((one) => [one]);

/** What is waited for is a user's own: the account that is being deleted, an idempotency key that another process stores. */
const byUser = (group: Pending[]) => [...Map.groupBy(group, ({ item }) => item.userId).values()];

/** Stores uploads in one transaction. @returns the ids of the jobs that were new */
async function storeTogether(uploads: Small[]): Promise<Set<string>> {
  const hasSeveralUsers = uploads.some(({ userId }) => userId !== uploads[0]?.userId);
  const settings = hasSeveralUsers ? { ...durably, lock_timeout: "500ms" } : durably; // the rest of the time is for a second try
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
         order by user_id, idempotency_key, id
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
  }, settings);
}
