// After stored bodies are sealed with the newest key, older keys may go.
import "server-only";
import { log } from "#lib/core/log";
import { prisma, transaction } from "#lib/db/client";
import {
  type BodyHead,
  type BodyName,
  bodyTables,
  lockBody,
  readBodyHeads,
  readObjectName,
  writeBody,
} from "#lib/ingest/raw/sql";
import { putObject, readObject } from "#lib/storage/s3";
import { isOutdated, seal, unseal } from "#lib/storage/sealed";

type Outcome = "sealed" | "left" | "unreadable" | undefined;

/** Unsealed objects of the store expire as they are, because another size would break their readers. */
export async function rotateKeys(): Promise<Record<NonNullable<Outcome>, number>> {
  const done = { sealed: 0, left: 0, unreadable: 0 };
  for (const table of bodyTables) {
    for (let heads = await readBodyHeads(table, undefined); heads.length > 0; ) {
      for (const body of heads) {
        const outcome = body.object ? await rotateObject(body, body.object) : await rotateRow(body);
        if (outcome) done[outcome] += 1;
      }
      heads = await readBodyHeads(table, heads.at(-1));
    }
  }
  return done;
}

async function rotateRow({ head, ...own }: BodyHead): Promise<Outcome> {
  if (!head || !isOutdated(head)) return undefined;
  return transaction(async (tx) => {
    const body = await lockBody(tx, own);
    const sealed = body && sealAnew(own, new Uint8Array(body));
    if (sealed) await writeBody(tx, own, sealed);
    return sealed || !body ? "sealed" : "unreadable";
  });
}

/** Sealing with another key keeps the size. */
async function rotateObject(own: BodyHead, object: string): Promise<Outcome> {
  const { userId, bytes } = own;
  const stored = await readObject(userId, object, 0, bytes ?? 0);
  if (!stored || !isOutdated(stored)) return undefined;
  const sealed = sealAnew(own, stored);
  if (!sealed) return "unreadable";
  if (sealed.length !== stored.length) return "left";
  await putObject(userId, object, sealed);
  // removed meanwhile, it exists again
  if ((await readObjectName(own)) !== object)
    await prisma().objectRemoval.upsert({ where: { key: object }, create: { key: object }, update: {} });
  return "sealed";
}

/** @returns undefined for a body that was changed, or whose key is lost */
function sealAnew({ table, name }: BodyName, stored: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  let body: Uint8Array<ArrayBuffer>;
  try {
    body = unseal(stored);
  } catch (error) {
    log.warn({ err: error, table, name }, "a body can't be read, and keeps the key that it has");
    return undefined;
  }
  return seal(body);
}
