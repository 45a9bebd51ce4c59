// Bodies in the S3 store: put before the transaction that names them, so that no job is without its body. What no upload names
// in the end is deleted here where that is certain, and otherwise by the sweep (lib/ingest/raw/removal.ts).
import "server-only";
import { free } from "#lib/memory";
import { makeUploadKey } from "#lib/store/keys";
import { deleteObject, putObject } from "#lib/store/s3";
import { seal } from "#lib/store/sealed";

/** A body in the store: its object's key, and its size. */
export type PlacedBody = { object: string; objectBytes: number };

type Owner = { userId: string; jobId: string };

/** Puts a body into the store. @throws StoreOutageError */
export async function placeBody({ userId, jobId }: Owner, body: Uint8Array<ArrayBuffer>): Promise<PlacedBody> {
  const object = makeUploadKey(userId, jobId);
  const sealed = seal(body);
  const objectBytes = sealed.byteLength;
  await putObject(userId, object, sealed);
  free(body);
  return { object, objectBytes };
}

/** Deletes a body that no upload will name; what fails is left to the sweep. */
export function discardBody({ object }: PlacedBody): void {
  deleteObject(object).catch(() => {});
}
