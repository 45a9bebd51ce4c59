// A table lists objects until the store confirms their deletion, so that an interrupted one is resumed.
import "server-only";
import { prisma } from "#lib/db/client";
import { findObjects } from "#lib/db/sql/bodies";
import { findKnownObjects } from "#lib/ingest/raw/sql";
import { getStorePrefix, parsePartKey, parsePictureKey, parseUploadKey } from "#lib/storage/objects";
import { deleteObject, hasStore, listObjects, type StoredObject } from "#lib/storage/s3";

const atOnce = 100;

/** @throws StoreOutageError; what was not deleted goes to the end of the list */
export async function removeObjects(seconds: number): Promise<void> {
  if (!hasStore()) return;
  const deadline = performance.now() + seconds * 1000;
  while (performance.now() < deadline) {
    const due = await prisma().objectRemoval.findMany({ orderBy: { createdAt: "asc" }, take: atOnce });
    if (due.length === 0) return;
    const keys = due.map(({ key }) => key);
    const remove = (key: string) => (key.endsWith("/") ? removeAll(key) : deleteObject(key));
    const { removed, failed, cause } = await inGroups(keys, remove);
    await prisma().objectRemoval.deleteMany({ where: { key: { in: removed } } });
    if (failed.length === 0) continue;
    await prisma().objectRemoval.updateMany({ where: { key: { in: failed } }, data: { createdAt: new Date() } });
    throw cause;
  }
}

async function removeAll(prefix: string): Promise<void> {
  for (let found = await listObjects(prefix); found.length > 0; found = await listObjects(prefix)) {
    await deleteObjects(found.map(({ key }) => key));
  }
}

async function deleteObjects(keys: string[]): Promise<void> {
  const { failed, cause } = await inGroups(keys, deleteObject);
  if (failed.length > 0) throw cause;
}

/** Stops after a group of which none could be removed. */
async function inGroups(keys: string[], remove: (key: string) => Promise<void>) {
  const [removed, failed]: [string[], string[]] = [[], []];
  let cause: unknown;
  for (let at = 0; at < keys.length; at += 10) {
    const group = keys.slice(at, at + 10);
    const results = await Promise.allSettled(group.map(remove));
    for (const [index, result] of results.entries()) {
      (result.status === "fulfilled" ? removed : failed).push(group[index] ?? "");
      if (result.status === "rejected") cause = result.reason;
    }
    if (results.every(({ status }) => status === "rejected")) break;
  }
  return { removed, failed, cause };
}

/** The upload of a younger object may be about to be committed. */
const orphanMs = 3_600_000;
/** a thousand objects each */
const maxPages = 100;
const placeKey = "upload-sweep";

/** Deletes objects of processes that died before they committed. Each call continues where the last one ended. */
export async function sweepOrphans(olderThanMs = orphanMs): Promise<number> {
  if (!hasStore()) return 0;
  const place = await prisma().serverSetting.findUnique({ where: { key: placeKey } });
  let after = place?.value || undefined;
  let deleted = 0;
  let failure: unknown;
  for (let page = 0; page < maxPages && !failure; page += 1) {
    const objects = await listObjects(getStorePrefix(), after);
    after = objects.at(-1)?.key;
    if (!after) break;
    try {
      deleted += await deleteOrphans(objects, olderThanMs);
    } catch (error) {
      failure = error;
    }
  }
  const value = after ?? "";
  await prisma().serverSetting.upsert({
    where: { key: placeKey },
    create: { key: placeKey, value },
    update: { value },
  });
  if (failure) throw failure;
  return deleted;
}

async function deleteOrphans(objects: StoredObject[], olderThanMs: number): Promise<number> {
  const keys = objects
    .filter(
      ({ key, storedAt }) =>
        (parseUploadKey(key) ?? parsePictureKey(key) ?? parsePartKey(key)) &&
        storedAt.getTime() < Date.now() - olderThanMs,
    )
    .map(({ key }) => key);
  const uploads = await findKnownObjects(keys.flatMap((key) => parseUploadKey(key) ?? []));
  const pictureKeys = keys.flatMap((key) => parsePictureKey(key) ?? []);
  const partKeys = keys.flatMap((key) => parsePartKey(key) ?? []);
  const pictures = await findObjects("picture", pictureKeys);
  const parts = await findObjects("original_part", partKeys);
  const orphans = keys.filter((key) => ![uploads, pictures, parts].some((known) => known.has(key)));
  await deleteObjects(orphans);
  return orphans.length;
}
