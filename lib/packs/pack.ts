// Packs the messages of quiet traces: many messages compressed together take a third of what their rows do (figures in
// docs/decisions/0032-content-as-text.md).
import "server-only";
import type { PoolClient } from "pg";
import { holdUsers } from "#lib/auth/sql";
import { pool, transaction } from "#lib/db/client";
import { isUpgrading, raiseFloor } from "#lib/db/sql/upgrading";
import { freeSpace } from "#lib/db/sql/vacuum";
import { env } from "#lib/env";
import { log } from "#lib/log";
import { compress, inflate, messagesIn } from "#lib/packs/format";
import { groupsOf } from "#lib/packs/groups";
import {
  copyRows,
  deleteRows,
  findQuiet,
  findUserToPack,
  insertPack,
  lockQuiet,
  markPacked,
  readSizes,
  type Sized,
} from "#lib/packs/sql/write";

/** About what a pack holds, before it is compressed: with half of it packs take 6 % more, with twice of it 4 % less, and are read twice as slowly. */
const packBytes = 512 * 1024;
/** A trace with more, or with a larger message, keeps its rows: each reader of a pack holds all of it. */
const max = { traceBytes: 64 * 1024 * 1024, messageBytes: 8 * 1024 * 1024 };

/** How many traces of a user are looked for at a time, before another user's. */
const tracesAtOnce = 50;
const dayMs = 24 * 60 * 60 * 1000;

/** How long a trace that failed is left alone, and how many of them are known. */
const failing = { ms: 3_600_000, traces: 1000 };
/** Traces at which packing failed in this process, and when each is tried again. */
const failed = new Map<string, number>();

/** A stopped process must not keep uploads from the trace. */
const settings = { idle_in_transaction_session_timeout: "30s" } as const;

const noUser = "00000000-0000-0000-0000-000000000000";

/**
 * Packs the traces that were not changed for `PACK_AFTER_DAYS`, a transaction each, user by user. Safe to be killed, and to run in
 * several processes.
 *
 * @param seconds after which no more are begun.
 * @param mayProceed is asked before each; once it says no, the rest is left to the next call.
 * @returns how many were packed.
 */
export async function packQuiet(
  seconds: number,
  mayProceed: () => Promise<boolean> = async () => true,
): Promise<number> {
  const days = env().PACK_AFTER_DAYS;
  if (days === 0 || (await isUpgrading("packs"))) return 0;
  await raiseFloor();
  const deadline = performance.now() + seconds * 1000;
  const before = new Date(Date.now() - days * dayMs);
  for (let packed = 0; ; ) {
    const earlier = packed;
    for (let user = await findUserToPack(pool(), noUser, before); user; ) {
      for (const traceId of await findQuiet(pool(), user, before, { limit: tracesAtOnce, except: failedNow() })) {
        if (performance.now() >= deadline || !(await mayProceed())) return packed;
        if (await packOne(user, traceId, before)) packed += 1;
      }
      user = await findUserToPack(pool(), user, before);
    }
    if (packed === earlier) return packed;
  }
}

const failedNow = () => [...failed].filter(([, until]) => until > performance.now()).map(([id]) => id);

/** @returns whether it was packed; not where it failed, which is logged */
async function packOne(userId: string, traceId: string, before: Date): Promise<boolean> {
  try {
    const bytes = await transaction((tx) => packTrace(tx, userId, traceId, before), settings);
    if (bytes > 0) await freeSpace("message", bytes);
    return bytes > 0;
  } catch (error) {
    log.warn({ err: error, trace: traceId }, "a session could not be packed; it is tried again later");
    if (failed.size >= failing.traces) failed.clear();
    failed.set(traceId, performance.now() + failing.ms);
    return false;
  }
}

/** @returns what the rows took that were packed, in bytes */
async function packTrace(tx: PoolClient, userId: string, traceId: string, before: Date): Promise<number> {
  // Waiting for a user would be a deadlock with a deletion that waits for the trace.
  if (!(await holdUsers(tx, [userId], false)).has(userId)) return 0;
  const trace = await lockQuiet(tx, userId, traceId, before);
  if (!trace) return 0;
  const sizes = await readSizes(tx, userId, traceId);
  const sum = sizes.reduce((bytes, size) => bytes + size.bytes, 0);
  const isWorth = sizes.length > 0 && sum <= max.traceBytes && sizes.every(({ bytes }) => bytes <= max.messageBytes);
  await markPacked(tx, userId, traceId);
  if (!isWorth) return 0;
  if (sizes.length !== trace.messageCount) throw new Error("a session has not as many messages as are counted");
  for (const group of groupsOf(sizes, packBytes)) await packGroup(tx, userId, traceId, group);
  const deleted = await deleteRows(tx, userId, traceId);
  if (deleted !== sizes.length) throw new Error(`${deleted} messages were deleted, and ${sizes.length} packed`);
  return sum;
}

/** Writes a pack, once it is seen that all of it comes back. */
async function packGroup(tx: PoolClient, userId: string, traceId: string, group: Sized[]): Promise<void> {
  const firstPosition = group[0]?.position ?? 0;
  const lastPosition = group.at(-1)?.position ?? 0;
  const rows = await copyRows(tx, userId, traceId, [firstPosition, lastPosition]);
  const body = await compress(rows);
  const again = await inflate(body, rows.length);
  if (!again.equals(rows)) throw new Error("a pack does not inflate to what was compressed");
  const positions = [...messagesIn(again)].map(({ position }) => position);
  const isWhole = positions.length === group.length && group.every(({ position }, at) => positions[at] === position);
  if (!isWhole) throw new Error("a pack does not have the messages that were measured");
  await insertPack(tx, {
    ...{ userId, traceId, firstPosition, lastPosition },
    ...{ messages: group.length, bytes: rows.length, body: new Uint8Array(body) },
  });
}
