import "server-only";
import type { PoolClient } from "pg";
import { SpoorError } from "#lib/core/errors";
import { free } from "#lib/core/memory";
import { transaction } from "#lib/db/client";
import { placeInQueue } from "#lib/ingest/accept/admission";
import {
  copyIntoUpload,
  durably,
  insertJob,
  insertRepeated,
  insertUploads,
  isHolderGone,
  type NewUpload,
  type Repeated,
} from "#lib/ingest/accept/sql";
import type { Checked } from "#lib/ingest/decode/operations";
import { inTurn, reserveRoom } from "#lib/ingest/quota/quota";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import type { PlacedBody } from "#lib/storage/objects";

/**
 * @param holder the upload that already has the same body
 * @returns false if another job has the idempotency key
 * @throws SpoorError `payload_too_large` over the quota
 */
export function storeLarge(upload: NewUpload & Checked & Partial<PlacedBody>, holder?: string): Promise<boolean> {
  const store = async (tx: PoolClient) => {
    if (!(await insertLarge(tx, upload, holder))) return false;
    await enqueueUpload(tx, upload);
    await reserveRoom(tx, [upload]);
    return true;
  };
  return inTurn(upload.userId, () => storeOrRollBack(store));
}

async function insertLarge(
  tx: PoolClient,
  upload: NewUpload & Checked & Partial<PlacedBody>,
  holder: string | undefined,
): Promise<boolean> {
  if (holder || upload.object) {
    const holders = new Map(holder ? [[upload.jobId, holder]] : []);
    return (await insertUploads(tx, [upload], holders)).length === 1;
  }
  if (!(await insertJob(tx, upload))) return false;
  await copyIntoUpload(tx, upload);
  free(upload.stored);
  return true;
}

/** @returns false if the key is taken, or the earlier upload is gone */
export function storeRepeated(upload: NewUpload, repeated: Repeated): Promise<boolean> {
  return storeOrRollBack(async (tx) => {
    if (!(await insertRepeated(tx, upload, repeated))) return false;
    await enqueueUpload(tx, upload);
    return true;
  });
}

const enqueueUpload = (tx: PoolClient, { userId, jobId }: NewUpload) =>
  enqueue(tx, queues.ingest, [{ userId, jobId }], placeInQueue);

const notStored = new Error("the upload was not stored");

/** Commits only if `store` returns true. */
async function storeOrRollBack(store: (tx: PoolClient) => Promise<boolean>): Promise<boolean> {
  await prepareQueue();
  try {
    await transaction(async (tx) => {
      if (!(await store(tx))) throw notStored;
    }, durably);
    return true;
  } catch (error) {
    if (error === notStored) return false;
    if (isHolderGone(error))
      throw new SpoorError("unavailable", "An upload of the same bytes was just removed. Send it again.");
    throw error;
  }
}
