// A key reveals no content: it has the configured prefix, the owner, and the id of the upload, picture or part.
import "server-only";
import { randomUUID } from "node:crypto";
import { env } from "#lib/core/env";
import { free } from "#lib/core/memory";
import { deleteObject, putObject } from "#lib/storage/s3";
import { seal } from "#lib/storage/sealed";

export const getStorePrefix = () => env().UPLOAD_S3_PREFIX;

export const getUserPrefix = (userId: string) => `${getStorePrefix()}${userId}/`;

const makeUploadKey = (userId: string, jobId: string) => `${getUserPrefix(userId)}${jobId}.zst`;

/** Each call makes a new key, so a pending deletion never removes a picture that was sent again. */
export const makePictureKey = (userId: string, sha256: string) => `${getUserPrefix(userId)}${sha256}.${randomUUID()}`;

export const makePartKey = (userId: string, sha256: string) => `${getUserPrefix(userId)}${sha256}.${randomUUID()}.age`;

const id = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const name = new RegExp(`^(${id})/(${id})\\.zst$`);
const pictureName = new RegExp(`^(${id})/([0-9a-f]{64})\\.${id}$`);

const partName = new RegExp(`^(${id})/([0-9a-f]{64})\\.${id}\\.age$`);

const withoutPrefix = (key: string) => (key.startsWith(getStorePrefix()) ? key.slice(getStorePrefix().length) : "");

export function parseUploadKey(key: string): { userId: string; jobId: string } | undefined {
  const [, userId, jobId] = name.exec(withoutPrefix(key)) ?? [];
  return userId && jobId ? { userId, jobId } : undefined;
}

export function parsePictureKey(key: string): { userId: string; sha256: string } | undefined {
  const [, userId, sha256] = pictureName.exec(withoutPrefix(key)) ?? [];
  return userId && sha256 ? { userId, sha256 } : undefined;
}

export function parsePartKey(key: string): { userId: string; sha256: string } | undefined {
  const [, userId, sha256] = partName.exec(withoutPrefix(key)) ?? [];
  return userId && sha256 ? { userId, sha256 } : undefined;
}

export type PlacedBody = { object: string; objectBytes: number };

type Owner = { userId: string; jobId: string };

/**
 * Bodies go to the S3 store before their rows, so that no job lacks its body; a sweep (lib/ingest/raw/removal.ts)
 * deletes the others.
 */
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
