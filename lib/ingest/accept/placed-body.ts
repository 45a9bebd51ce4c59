// Bodies go to the S3 store first, so that no job lacks its body; a sweep (lib/ingest/raw/removal.ts) deletes what no
// upload names.
import "server-only";
import { free } from "#lib/core/memory";
import { makeUploadKey } from "#lib/storage/keys";
import { deleteObject, putObject } from "#lib/storage/s3";
import { seal } from "#lib/storage/sealed";

export type PlacedBody = { object: string; objectBytes: number };

type Owner = { userId: string; jobId: string };

/** @throws StoreOutageError */
export async function placeBody({ userId, jobId }: Owner, body: Uint8Array<ArrayBuffer>): Promise<PlacedBody> {
  const object = makeUploadKey(userId, jobId);
  const sealed = seal(body);
  const objectBytes = sealed.byteLength;
  await putObject(userId, object, sealed);
  free(body);
  return { object, objectBytes };
}

/** The sweep deletes what remains. */
export function discardBody({ object }: PlacedBody): void {
  deleteObject(object).catch(() => {});
}
