// Sealing stored bodies with the operator's newest key, after which older ones may go.
import "server-only";
import { prisma, transaction } from "#lib/db/client";
import { lockBody, readBodyHeads, writeBody } from "#lib/ingest/raw/sql";
import { putObject, readObject } from "#lib/store/s3";
import { isOutdated, seal, unseal } from "#lib/store/sealed";

/**
 * Seals all kept bodies with the first key of ENCRYPTION_KEY. An interrupted call is continued by the next. Objects of the store
 * that are not sealed stay so until their time is over: another size would break who reads them.
 *
 * @returns how many were sealed anew, and how many objects were left as they are.
 */
export async function rotateKeys(): Promise<{ sealed: number; left: number }> {
  const done = { sealed: 0, left: 0 };
  for (let after: { userId: string; jobId: string } | undefined; ; ) {
    const heads = await readBodyHeads(after);
    for (const { userId, jobId, object, bytes, head } of heads) {
      const isDone = object
        ? await rotateObject({ userId, jobId }, object, bytes ?? 0)
        : await rotateRow(userId, jobId, head);
      if (isDone) done.sealed += 1;
      else if (isDone === false) done.left += 1;
    }
    after = heads.at(-1);
    if (!after) return done;
  }
}

async function rotateRow(userId: string, jobId: string, head: Uint8Array | null): Promise<boolean | undefined> {
  if (!head || !isOutdated(head)) return undefined;
  return transaction(async (tx) => {
    const body = await lockBody(tx, userId, jobId);
    if (body) await writeBody(tx, userId, jobId, seal(unseal(new Uint8Array(body))));
    return true;
  });
}

/** A body that was sealed with another key has the same size. @returns false for one that was not sealed */
async function rotateObject(
  upload: { userId: string; jobId: string },
  object: string,
  bytes: number,
): Promise<boolean | undefined> {
  const { userId } = upload;
  const stored = await readObject(userId, object, 0, bytes);
  if (!stored || !isOutdated(stored)) return undefined;
  const sealed = seal(unseal(stored));
  if (sealed.length !== stored.length) return false;
  await putObject(userId, object, sealed);
  const held = await prisma().upload.findUnique({ where: { userId_jobId: upload }, select: { object: true } });
  // It was removed meanwhile, perhaps for what was masked in it, and is there again.
  if (held?.object !== object)
    await prisma().objectRemoval.upsert({ where: { key: object }, create: { key: object }, update: {} });
  return true;
}
