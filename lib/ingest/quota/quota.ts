// USER_QUOTA_BYTES. Usage is derived from the rows, so that no crash can make it wrong.
import "server-only";
import { Turns } from "#lib/core/concurrency/fair-queue";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { env } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { type Db, prisma, type Queryable } from "#lib/db/client";
import type { TraceSize } from "#lib/ingest/decode/operations";
import { deleteCopies, lockQuota, readStored, reserve, reserveWhole } from "#lib/ingest/quota/sql";
import { formatBytes } from "#lib/transcript/text";

const told = (bytes: number): string => `${formatBytes(bytes)} (${bytes} bytes)`;

export const hasQuota = () => env().USER_QUOTA_BYTES !== undefined;

/** In bytes. */
export type Storage = { used: number; quota: number | undefined };

export async function getStorage(userId: string): Promise<Storage> {
  const { used } = await readStoredOnce(userId);
  return { used, quota: env().USER_QUOTA_BYTES };
}

const reads = oncePerProcess("reads of what is stored", () => new Map<string, ReturnType<typeof readStored>>());

/** Simultaneous calls share one query. */
function readStoredOnce(userId: string): ReturnType<typeof readStored> {
  const known = reads.get(userId);
  if (known) return known;
  const reading = readStored(userId).finally(() => reads.delete(userId));
  reads.set(userId, reading);
  return reading;
}

/**
 * An upload whose idempotency key is known stores nothing.
 * @param bytes the declared length; 0 without one
 */
export async function requireRoom(userId: string, bytes: number, idempotencyKey: string | undefined): Promise<void> {
  const quota = env().USER_QUOTA_BYTES;
  if (quota === undefined) return;
  const { used } = await readStoredOnce(userId);
  if (used + Math.max(1, bytes) <= quota) return;
  if (idempotencyKey !== undefined && (await isKnown(userId, idempotencyKey))) return;
  const left = Math.max(0, quota - used);
  throw new OverQuotaError(
    `This upload has ${formatBytes(bytes)} or more, but only ${formatBytes(left)} of your quota of ${told(quota)} are left`,
  );
}

async function isKnown(userId: string, idempotencyKey: string): Promise<boolean> {
  const job = await prisma().ingestJob.findUnique({
    where: { userId_idempotencyKey: { userId, idempotencyKey } },
    select: { id: true },
  });
  return job !== null;
}

const turns = new Turns();

/** Otherwise each waiting upload of a user would occupy a connection. */
export async function inTurn<T>(userId: string, store: () => Promise<T>): Promise<T> {
  if (!hasQuota()) return store();
  const endTurn = await turns.take(userId);
  return store().finally(endTurn);
}

type Inserted = { userId: string; jobId: string; sizes: TraceSize[] };

/**
 * Call it at the end of the transaction that stores uploads, which serializes a user's.
 * @throws SpoorError `payload_too_large`; the transaction must be rolled back
 */
export async function reserveRoom(tx: Queryable, uploads: Inserted[]): Promise<void> {
  if (!hasQuota()) return;
  const byUser = [...Map.groupBy(uploads, ({ userId }) => userId)];
  // All processes use one order, so that no two wait for each other.
  for (const [userId, own] of byUser.sort(([a], [b]) => (a < b ? -1 : 1))) {
    await lockQuota(tx, userId);
    for (const { jobId, sizes } of own) await reserve(tx, userId, jobId, sizes);
    await keepWithin(tx, userId);
  }
}

export async function requireRoomStored(tx: Queryable, userId: string): Promise<void> {
  if (!hasQuota()) return;
  await lockQuota(tx, userId);
  await keepWithin(tx, userId);
}

export async function reserveForReplay(tx: Db, userId: string, jobIds: string[]): Promise<void> {
  if (!hasQuota() || jobIds.length === 0) return;
  await lockQuota(tx, userId);
  await reserveWhole(tx, userId, jobIds);
  await keepWithin(tx, userId);
}

/**
 * Waiting raw uploads have the quota for themselves, or a session of half the quota could not be sent again; those of
 * succeeded jobs get what is left.
 */
async function keepWithin(tx: Queryable | Db, userId: string): Promise<void> {
  const quota = env().USER_QUOTA_BYTES ?? Number.POSITIVE_INFINITY;
  const { used, waiting, copies } = await readStored(userId, tx);
  if (used > quota)
    throw new OverQuotaError(
      `With this upload, your sessions would exceed your quota of ${told(quota)} by ${formatBytes(used - quota)}`,
    );
  if (waiting > quota)
    throw new SpoorError("overloaded", "Your earlier uploads are not processed yet. Nothing was stored; try again.");
  if (used + copies > quota) await deleteCopies(tx, userId, used + copies - quota);
}

export class OverQuotaError extends SpoorError {
  override name = "OverQuotaError";

  constructor(figures: string) {
    super("payload_too_large", `${figures}. Delete sessions to free space. Nothing was stored.`);
  }
}
