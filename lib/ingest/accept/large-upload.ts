import "server-only";
import type { PoolClient } from "pg";
import { transaction } from "#lib/db/client";
import { SpoorError } from "#lib/errors";
import { placeInQueue } from "#lib/ingest/accept/admission";
import {
  type BodyElsewhere,
  completeJob,
  copyBody,
  durably,
  insertJob,
  insertRepeated,
  insertWithoutBody,
  isHolderGone,
  type NewUpload,
  type Repeated,
} from "#lib/ingest/accept/sql";
import type { Checked } from "#lib/ingest/decode/operations";
import { inTurn, reserveRoom } from "#lib/ingest/quota/quota";
import { free } from "#lib/memory";
import { enqueue, prepareQueue } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";

/**
 * Stores an upload with its job and queue entry: the job while the body is still being read, and rolls back if the body
 * is invalid. Idempotency key and place among the user's uploads are taken after the reading, so that no other request
 * waits for the key meanwhile.
 * @param elsewhere is where the body already is
 * @returns false if another job has the idempotency key
 * @throws what `reading` rejects with; SpoorError `payload_too_large` over the quota
 */
export function storeWhileReading(
  upload: NewUpload,
  reading: Promise<Checked>,
  elsewhere?: BodyElsewhere,
): Promise<boolean> {
  const store = async (tx: PoolClient) => {
    await insertJob(tx, upload);
    await enqueueUpload(tx, upload);
    const checked = await reading;
    if (elsewhere) {
      await insertWithoutBody(tx, upload, elsewhere);
    } else {
      await copyBody(tx, upload, checked.stored);
      free(checked.stored);
    }
    if (!(await completeJob(tx, upload, checked))) return false;
    await reserveRoom(tx, [{ ...upload, ...checked }]);
    return true;
  };
  return inTurn(upload.userId, () => storeOrRollBack(store));
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

/** Rolls back without an error for the caller. */
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
      throw new SpoorError("unavailable", "The server was just removing an upload of the same bytes. Send it again.");
    throw error;
  }
}
