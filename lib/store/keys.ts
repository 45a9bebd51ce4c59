// Names of objects: the prefix of the settings, the owner, the upload or the picture. They say nothing of what is in them.
import { randomUUID } from "node:crypto";
import { env } from "#lib/env";

/** What the keys of all objects begin with. */
export const getStorePrefix = () => env().UPLOAD_S3_PREFIX;

/** What the keys of a user's objects begin with. */
export const getUserPrefix = (userId: string) => `${getStorePrefix()}${userId}/`;

/** The key of an upload's body. */
export const makeUploadKey = (userId: string, jobId: string) => `${getUserPrefix(userId)}${jobId}.zst`;

/** The key of a picture's bytes, new each time: a deletion that is still to come never meets a picture that was sent again. */
export const makePictureKey = (userId: string, sha256: string) => `${getUserPrefix(userId)}${sha256}.${randomUUID()}`;

const id = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const name = new RegExp(`^(${id})/(${id})\\.zst$`);
const pictureName = new RegExp(`^(${id})/([0-9a-f]{64})\\.${id}$`);

const withoutPrefix = (key: string) => (key.startsWith(getStorePrefix()) ? key.slice(getStorePrefix().length) : "");

/** The upload whose body a key names; undefined for any other object. */
export function parseUploadKey(key: string): { userId: string; jobId: string } | undefined {
  const [, userId, jobId] = name.exec(withoutPrefix(key)) ?? [];
  return userId && jobId ? { userId, jobId } : undefined;
}

/** The picture whose bytes a key names; undefined for any other object. */
export function parsePictureKey(key: string): { userId: string; sha256: string } | undefined {
  const [, userId, sha256] = pictureName.exec(withoutPrefix(key)) ?? [];
  return userId && sha256 ? { userId, sha256 } : undefined;
}
