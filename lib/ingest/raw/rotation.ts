// Sealing stored bodies with the operator's newest key, after which older ones may go.
import "server-only";
import { prisma, transaction } from "#lib/db/client";
import { lockBody, readBodyHeads, writeBody } from "#lib/ingest/raw/sql";
import { log } from "#lib/log";
import { putObject, readObject } from "#lib/store/s3";
import { isOutdated, seal, unseal } from "#lib/store/sealed";

/** What became of a body; undefined for one that has the first key already, or is gone. */
type Outcome = "sealed" | "left" | "unreadable" | undefined;

/**
 * Seals all kept bodies with the first key of ENCRYPTION_KEY. An interrupted call is continued by the next. Objects of the store
 * that are not sealed stay so until their time is over: another size would break who reads them.
 *
 * @returns how many were sealed anew, how many objects were left as they are, and how many bodies no key opens.
 */
export async function rotateKeys(): Promise<Record<NonNullable<Outcome>, number>> {
  const done = { sealed: 0, left: 0, unreadable: 0 };
  for (let after: { userId: string; jobId: string } | undefined; ; ) {
    const heads = await readBodyHeads(after);
    for (const { userId, jobId, object, bytes, head } of heads) {
      const outcome = object
        ? await rotateObject({ userId, jobId }, object, bytes ?? 0)
        : await rotateRow({ userId, jobId }, head);
      if (outcome) done[outcome] += 1;
    }
    after = heads.at(-1);
    if (!after) return done;
  }
}

type Own = { userId: string; jobId: string };

async function rotateRow({ userId, jobId }: Own, head: Uint8Array | null): Promise<Outcome> {
  if (!head || !isOutdated(head)) return undefined;
  return transaction(async (tx) => {
    const body = await lockBody(tx, userId, jobId);
    const sealed = body && sealAnew(jobId, new Uint8Array(body));
    if (sealed) await writeBody(tx, userId, jobId, sealed);
    return sealed || !body ? "sealed" : "unreadable";
  });
}

/** A body that was sealed with another key has the same size; one that was not sealed is left. */
async function rotateObject(upload: Own, object: string, bytes: number): Promise<Outcome> {
  const { userId, jobId } = upload;
  const stored = await readObject(userId, object, 0, bytes);
  if (!stored || !isOutdated(stored)) return undefined;
  const sealed = sealAnew(jobId, stored);
  if (!sealed) return "unreadable";
  if (sealed.length !== stored.length) return "left";
  await putObject(userId, object, sealed);
  const held = await prisma().upload.findUnique({ where: { userId_jobId: upload }, select: { object: true } });
  // It was removed meanwhile, perhaps for what was masked in it, and is there again.
  if (held?.object !== object)
    await prisma().objectRemoval.upsert({ where: { key: object }, create: { key: object }, update: {} });
  return "sealed";
}

/** @returns undefined for a body that was changed, or whose key is lost: it keeps up none of the others */
function sealAnew(jobId: string, stored: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  let body: Uint8Array<ArrayBuffer>;
  try {
    body = unseal(stored);
  } catch (error) {
    log.warn({ err: error, jobId }, "the body of an upload can't be read, and keeps the key that it has");
    return undefined;
  }
  return seal(body);
}
