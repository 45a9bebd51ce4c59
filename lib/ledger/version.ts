import "server-only";
import type { PoolClient } from "pg";
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
import { rulesVersion } from "#lib/secrets/kinds";

/** Raised where parts of the ledger read or write something else than before, and with the table of secrets: all traces are then accounted for again. */
const ledgerVersion = 10 + rulesVersion;
/** How many traces one transaction marks. */
const tracesAtOnce = 5000;
/** How often traces are looked for that a process of the release before wrote. */
const adoptMs = 30_000;

let adoptedAt = Number.NEGATIVE_INFINITY;

/** What traces that are accounted for now are of; those with less are read from their start. */
export const readTarget = async (tx: PoolClient): Promise<number> => (await readSettings(tx, ledgerVersion)).target;

/**
 * Has all traces of all users accounted for again, in the background: after a change of prices, for one. @returns the number
 * that traces have afterwards as `accounted_version`
 */
export const requestReaccounting = (): Promise<number> => raiseTarget(pool(), ledgerVersion);

/** How many of all users' traces are still of an earlier version or of earlier prices, and how many there are. */
export async function countOutdated(): Promise<{ outdated: number; all: number }> {
  const { target } = await readSettings(pool(), ledgerVersion);
  const live = { deletedAt: null };
  const outdated = await prisma().trace.count({ where: { ...live, accountedVersion: { lt: target } } });
  return { outdated, all: await prisma().trace.count({ where: live }) };
}

/**
 * Marks traces that were accounted for by an earlier version of the ledger or at earlier prices, user by user; an interrupted
 * sweep continues. And those that a process of the release before wrote.
 */
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

/** Under the ledger's lock: what was accounted for with an earlier target has been committed. @returns whether there is more to do */
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
  if (await hasOutdated(tx, userId, target)) return false; // an upload holds one
  await recordSwept(tx, { target, userId, isDone: false });
  return true;
}
