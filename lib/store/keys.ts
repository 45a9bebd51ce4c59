// Names of objects: the prefix of the settings, the owner, the upload. They say nothing of what is in them.
import { env } from "#lib/env";

/** What the keys of all objects begin with. */
export const prefixOfAll = () => env().UPLOAD_S3_PREFIX;

/** What the keys of a user's objects begin with. */
export const prefixOf = (userId: string) => `${prefixOfAll()}${userId}/`;

/** The key of an upload's body. */
export const keyOf = (userId: string, jobId: string) => `${prefixOf(userId)}${jobId}.zst`;

const id = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const name = new RegExp(`^(${id})/(${id})\\.zst$`);

/** The upload whose body a key names; undefined for an object that is not Spoor's. */
export function uploadOf(key: string): { userId: string; jobId: string } | undefined {
  const [, userId, jobId] = (key.startsWith(prefixOfAll()) && name.exec(key.slice(prefixOfAll().length))) || [];
  return userId && jobId ? { userId, jobId } : undefined;
}
