// Simultaneous small uploads share a transaction, so that each need not wait for the disk.
import "server-only";
import type { PoolClient } from "pg";
import { coalesce, type Pending } from "#lib/core/concurrency/coalesce";
import { isOutage, postgresCode } from "#lib/core/errors";
import { type Settings, transaction } from "#lib/db/client";
import { placeInQueue } from "#lib/ingest/accept/admission";
import { findSameUpload, turnOfBytes } from "#lib/ingest/accept/same-bytes";
import { durably, findHolders, insertUploads, isHolderGone, type NewUpload } from "#lib/ingest/accept/sql";
import type { Checked } from "#lib/ingest/decode/operations";
import { reserveRoom } from "#lib/ingest/quota/quota";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import { discardBody, type PlacedBody, placeBody } from "#lib/storage/objects";
import { usesStore } from "#lib/storage/s3";

type SmallUpload = NewUpload & Checked & Partial<PlacedBody>;
type PendingUpload = Pending<SmallUpload, boolean>;

// proceeds while the first waits for a key that another process inserts
const store = coalesce<SmallUpload, boolean>((group) => settle(group), { maxGroup: 64, maxInFlight: 2 });

/**
 * On disk, with its job and queue entry, when this returns.
 * @returns false if another job has its idempotency key
 * @throws SpoorError `payload_too_large` over the quota
 */
export async function storeSmall(upload: SmallUpload): Promise<boolean> {
  await prepareQueue();
  return usesStore() ? placeAndStore(upload) : store(upload);
}

async function placeAndStore(upload: SmallUpload): Promise<boolean> {
  const endTurn = await turnOfBytes(upload);
  try {
    if (!upload.isMasked && (await findSameUpload(upload))) return await store(upload);
    const placed = await placeBody(upload, new Uint8Array(upload.stored));
    const isStored = await store({ ...upload, ...placed });
    if (!isStored) discardBody(placed);
    return isStored;
  } finally {
    endTurn();
  }
}

/** A failed group is split and retried, so that no upload is refused because of another one. */
async function settle(group: PendingUpload[], shareBodies = true): Promise<void> {
  try {
    const stored = await storeGroup(
      group.map(({ item }) => item),
      shareBodies,
    );
    for (const { item, resolve } of group) resolve(stored.has(item.jobId));
  } catch (error) {
    if (shareBodies && isHolderGone(error)) return settle(group, false);
    const isLocked = isLockFailure(error);
    if (isOutage(error) && !isLocked) throw error;
    const parts = isLocked ? byUser(group) : singly(group);
    if (parts.length === 1) for (const { reject } of group) reject(error);
    else for (const part of parts) await settle(part);
  }
}

/** lock timeout, deadlock */
const isLockFailure = (error: unknown) => ["55P03", "40P01"].includes(postgresCode(error) ?? "");

const singly = (group: PendingUpload[]) => group.map((one) => [one]);

/** An upload waits for its user's locks: an account being deleted, a key being inserted. */
const byUser = (group: PendingUpload[]) => [...Map.groupBy(group, ({ item }) => item.userId).values()];

function storeGroup(uploads: SmallUpload[], shareBodies: boolean): Promise<Set<string>> {
  const hasSeveralUsers = uploads.some(({ userId }) => userId !== uploads[0]?.userId);
  // leaves time for a second attempt by user
  const settings: Settings = hasSeveralUsers ? { ...durably, lock_timeout: "500ms" } : durably;
  return transaction(async (tx) => {
    const holders = shareBodies ? await chooseHolders(tx, uploads) : new Map();
    const inserted = await insertUploads(tx, uploads, holders);
    await enqueue(tx, queues.ingest, inserted, placeInQueue);
    const jobIds = new Set(inserted.map(({ jobId }) => jobId));
    await reserveRoom(
      tx,
      uploads.filter(({ jobId }) => jobIds.has(jobId)),
    );
    return jobIds;
  }, settings);
}

async function chooseHolders(tx: PoolClient, uploads: SmallUpload[]): Promise<Map<string, string>> {
  const holders = new Map<string, string>();
  for (const [userId, own] of Map.groupBy(uploads, (upload) => upload.userId)) {
    const unplaced = own.filter(({ object, isMasked }) => !object && !isMasked);
    if (unplaced.length === 0) continue;
    const earlier = await findHolders(tx, userId, unplaced);
    const firsts = new Map<string, string>();
    for (const { jobId, sha256 } of unplaced) {
      const bytes = Buffer.from(sha256).toString("base64");
      const holder = earlier.get(jobId) ?? firsts.get(bytes);
      if (holder) holders.set(jobId, holder);
      else firsts.set(bytes, jobId);
    }
  }
  return holders;
}
