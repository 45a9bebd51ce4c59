import "server-only";
import type { PoolClient } from "pg";
import { rulesVersion } from "#common/secrets/kinds";
import { pool, prisma, transaction } from "#lib/db/client";
import { tryLedgerLock } from "#lib/ledger/sql/due";
import {
  adoptMarks,
  hasOutdated,
  markOutdated,
  nextUserAfter,
  raiseTarget,
  readSettings,
  recordSwept,
  type Swept,
} from "#lib/ledger/sql/version";

/** Raise when a part writes something else; all traces are then accounted for again. */
const ledgerVersion = 12 + rulesVersion;
const tracesAtOnce = 5000;
const adoptMs = 30_000;

let adoptedAt = Number.NEGATIVE_INFINITY;

export const readTarget = async (tx: PoolClient): Promise<number> => (await readSettings(tx, ledgerVersion)).target;

/**
 * For example after a change of prices.
 * @returns the version that traces will have
 */
export const requestReaccounting = (): Promise<number> => raiseTarget(pool(), ledgerVersion);

export async function countOutdated(): Promise<{ outdated: number; all: number }> {
  const { target } = await readSettings(pool(), ledgerVersion);
  const live = { deletedAt: null };
  const outdated = await prisma().trace.count({ where: { ...live, accountedVersion: { lt: target } } });
  return { outdated, all: await prisma().trace.count({ where: live }) };
}

/** Resumes an interrupted sweep. */
export async function sweep(deadline: number): Promise<void> {
  if (performance.now() - adoptedAt > adoptMs) {
    await adoptMarks(pool());
    adoptedAt = performance.now();
  }
  for (;;) {
    const { target, swept } = await readSettings(pool(), ledgerVersion);
    if (swept.target === target && swept.isDone) return;
    const went = await transaction((tx) => sweepNext(tx));
    if (!went || performance.now() >= deadline) return;
  }
}

/**
 * Runs under the ledger's lock, so everything accounted for with an earlier target is committed.
 * @returns whether more remains
 */
async function sweepNext(tx: PoolClient): Promise<boolean> {
  if (!(await tryLedgerLock(tx))) return false;
  const { target, swept } = await readSettings(tx, ledgerVersion);
  const from: Swept = swept.target === target ? swept : { target, userId: null, isDone: false };
  const userId = await nextUserAfter(tx, from.userId);
  if (!userId) {
    await recordSwept(tx, { target, userId: null, isDone: true });
    return true;
  }
  const marked = await markOutdated(tx, userId, target, tracesAtOnce);
  if (marked === tracesAtOnce) return true;
  if (await hasOutdated(tx, userId, target)) return false; // an upload has locked one
  await recordSwept(tx, { target, userId, isDone: false });
  return true;
}
