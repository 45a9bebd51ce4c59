// The quota of a user (USER_QUOTA_BYTES). What is used is derived from the rows themselves, so that a crash, a deletion and a
// repeated upload can't make it wrong; and without a quota nothing is computed.
import "server-only";
import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { Turns } from "#lib/concurrency/turns";
import { type Db, prisma, type Queryable } from "#lib/db/client";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";
import type { TraceSize } from "#lib/ingest/decode/operations";
import { deleteCopies, lockQuota, readStored, reserve, reserveWhole } from "#lib/ingest/quota/sql";
import { formatBytes } from "#lib/units";

/** A limit for people, and exactly for programs. */
const told = (bytes: number): string => `${formatBytes(bytes)} (${bytes} bytes)`;

/** Whether users have a quota. */
export const hasQuota = () => env().USER_QUOTA_BYTES !== undefined;

/** What a user stores: `used` counts against `quota`, which is undefined where there is none. In bytes. */
export type Storage = { used: number; quota: number | undefined };

/** How much of the quota a user uses. */
export async function getStorage(userId: string): Promise<Storage> {
  const { used } = await readStoredOnce(userId);
  return { used, quota: env().USER_QUOTA_BYTES };
}

const reads = oncePerProcess("reads of what is stored", () => new Map<string, ReturnType<typeof readStored>>());

/** As `readStored`, where calls at the same time share one query: a sender who is refused costs one at a time. */
function readStoredOnce(userId: string): ReturnType<typeof readStored> {
  const known = reads.get(userId);
  if (known) return known;
  const reading = readStored(userId).finally(() => reads.delete(userId));
  reads.set(userId, reading);
  return reading;
}

/**
 * Refuses an upload before its body is read, if it can't fit. One whose idempotency key is known is read: it stores nothing.
 *
 * @param bytes its declared length; 0 for one that has none.
 * @throws SpoorError `payload_too_large`
 */
export async function requireRoom(userId: string, bytes: number, idempotencyKey: string | undefined): Promise<void> {
  const quota = env().USER_QUOTA_BYTES;
  if (quota === undefined) return;
  const { used } = await readStoredOnce(userId);
  if (used + Math.max(1, bytes) <= quota) return;
  if (idempotencyKey !== undefined && (await isKnown(userId, idempotencyKey))) return;
  const left = Math.max(0, quota - used);
  throw new OverQuotaError(
    `This upload has ${formatBytes(bytes)} or more, and ${formatBytes(left)} are left of the ${told(quota)} that you may store`,
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

/**
 * With a quota, runs what stores a user's upload after what stores the one before: waiting for each other in the database,
 * one user's uploads would hold a connection each.
 */
export async function inTurn<T>(userId: string, store: () => Promise<T>): Promise<T> {
  if (!hasQuota()) return store();
  const endTurn = await turns.take(userId);
  return store().finally(endTurn);
}

/** An upload whose rows were inserted, and the sizes that its traces will have. */
type Inserted = { userId: string; jobId: string; sizes: TraceSize[] };

/**
 * Reserves room for uploads at the end of the transaction that stores them: until it ends, no other of the same users gets
 * here. The room is counted until the jobs end, when the traces themselves are.
 *
 * @throws SpoorError `payload_too_large`; the transaction must then be rolled back.
 */
export async function reserveRoom(tx: Queryable, uploads: Inserted[]): Promise<void> {
  if (!hasQuota()) return;
  const byUser = [...Map.groupBy(uploads, ({ userId }) => userId)];
  // In one order by all processes, so that no two wait for each other.
  for (const [userId, own] of byUser.sort(([a], [b]) => (a < b ? -1 : 1))) {
    await lockQuota(tx, userId);
    for (const { jobId, sizes } of own) await reserve(tx, userId, jobId, sizes);
    await keepWithin(tx, userId);
  }
}

/** Checks that a picture fits, at the end of the transaction that stores it. @throws SpoorError `payload_too_large` */
export async function requireRoomStored(tx: Queryable, userId: string): Promise<void> {
  if (!hasQuota()) return;
  await lockQuota(tx, userId);
  await keepWithin(tx, userId);
}

/** Reserves room for failed jobs that are queued again. @throws SpoorError `payload_too_large` */
export async function reserveForReplay(tx: Db, userId: string, jobIds: string[]): Promise<void> {
  if (!hasQuota() || jobIds.length === 0) return;
  await lockQuota(tx, userId);
  await reserveWhole(tx, userId, jobIds);
  await keepWithin(tx, userId);
}

/**
 * Checks what the transaction has made of a user's storage. Raw uploads that wait have room of the same size for themselves,
 * or a session of half the quota could not be sent again; those of succeeded jobs are kept only in what is left.
 */
async function keepWithin(tx: Queryable | Db, userId: string): Promise<void> {
  const quota = env().USER_QUOTA_BYTES ?? Number.POSITIVE_INFINITY;
  const { used, waiting, copies } = await readStored(userId, tx);
  if (used > quota)
    throw new OverQuotaError(
      `With this, your sessions would use ${formatBytes(used - quota)} more than the ${told(quota)} that you may store`,
    );
  if (waiting > quota)
    throw new SpoorError("overloaded", "Your uploads wait to be processed. Nothing was stored; try again.");
  if (used + copies > quota) await deleteCopies(tx, userId, used + copies - quota);
}

/** What does not fit into its user's quota. The message has the figures. */
export class OverQuotaError extends SpoorError {
  override name = "OverQuotaError";

  constructor(figures: string) {
    super("payload_too_large", `${figures}. Delete sessions to make room. Nothing was stored.`);
  }
}
