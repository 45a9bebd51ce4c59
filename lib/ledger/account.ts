import "server-only";
import type { PoolClient } from "pg";
import { holdUsers } from "#lib/auth/sql";
import { Pauses } from "#lib/core/concurrency/pauses";
import { log } from "#lib/core/log";
import { pool, transaction } from "#lib/db/client";
import { type ColumnsToSet, columnValues, joinColumns } from "#lib/ledger/columns";
import { factBytes } from "#lib/ledger/digest/facts";
import { digestPart } from "#lib/ledger/digest/part";
import { evidencePart } from "#lib/ledger/evidence/evidence";
import { filesPart } from "#lib/ledger/files";
import { parentsPart } from "#lib/ledger/parents";
import type { DerivedColumns, Finding, LedgerPart } from "#lib/ledger/part";
import { projectsPart } from "#lib/ledger/projects";
import { type ReadTrace, readTracesInto, type WantedTrace } from "#lib/ledger/read-traces";
import { secretsPart } from "#lib/ledger/secrets";
import {
  type ColumnValues,
  clearLinks,
  type DueTrace,
  findDueTraces,
  findNextUser,
  lockOthers,
  lockUnchanged,
  readTraces,
  setColumns,
  tryLedgerLock,
} from "#lib/ledger/sql/due";
import { usagePart } from "#lib/ledger/usage/part";
import { readTarget, sweep } from "#lib/ledger/version";

/** Parts in the order in which they write. Later parts see the project that the first one sets. */
const parts: readonly LedgerPart<unknown>[] = [
  projectsPart,
  usagePart,
  evidencePart,
  filesPart,
  digestPart,
  secretsPart,
  parentsPart,
];

const chunk = { messages: 20_000, traces: 500, metadataBytes: 8 * 1024 * 1024 };
/** Messages assumed to be unread of a trace that was accounted for before; the exact number is not stored. */
const assumedTail = 100;
/** Limit for trying one user's traces singly, so that other users are not delayed. */
const turnMs = 5000;
const statementTimeout = "60s";
const failingMs = 600_000;
const failed = new Pauses({ firstMs: failingMs, longestMs: failingMs, maxKeys: 10_000 });

class Busy extends Error {}

/**
 * Pending work is marked in `ledger_due`, so a run may be interrupted. Uploads never wait: traces are locked only at
 * the end of the transaction, and those that an upload locked or changed keep their mark.
 * @param settledSeconds skips traces that changed more recently, so that a growing one isn't read for each line
 * @returns the number of traces accounted for
 */
export async function accountTraces(seconds: number, settledSeconds = 0): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  await sweep(deadline);
  let accounted = 0;
  for (;;) {
    const before = accounted;
    for (let userId = await findNextUser(pool(), noUser, settledSeconds); userId; ) {
      if (accounted > 0 && performance.now() >= deadline) return accounted;
      const count = await accountFor(userId, settledSeconds);
      if (count === undefined) return accounted; // another process is accounting
      accounted += count;
      userId = await findNextUser(pool(), userId, settledSeconds);
    }
    if (accounted === before || performance.now() >= deadline) return accounted;
  }
}

const noUser = "00000000-0000-0000-0000-000000000000";

async function accountFor(userId: string, settledSeconds: number): Promise<number | undefined> {
  try {
    return await accountChunk(userId, settledSeconds, chunk.traces);
  } catch (error) {
    if (error instanceof Busy) return 0;
    log.warn({ err: error }, "sessions could not be accounted for together; each is retried separately");
  }
  let accounted = 0;
  const deadline = performance.now() + turnMs;
  while (performance.now() < deadline) {
    const tried: { id?: string } = {};
    try {
      const count = await accountChunk(userId, settledSeconds, 1, tried);
      if (!count) break;
      accounted += count;
    } catch (error) {
      if (!tried.id || error instanceof Busy) break;
      log.warn({ err: error, trace: tried.id }, "a session could not be accounted for");
      failed.begin(tried.id);
    }
  }
  return accounted;
}

/** @returns undefined if another process is accounting */
function accountChunk(
  userId: string,
  settledSeconds: number,
  limit: number,
  tried: { id?: string } = {},
): Promise<number | undefined> {
  return transaction(
    async (tx) => {
      if (!(await tryLedgerLock(tx))) return undefined;
      // Waiting would deadlock with an account's deletion, which waits for rows written here.
      if (!(await holdUsers(tx, [userId], false)).has(userId)) return 0;
      const target = await readTarget(tx);
      const due = takeChunk(await findDueTraces(tx, userId, { settledSeconds, limit, except: failed.current() }));
      if (due.length === 0) return 0;
      if (due.length === 1 && due[0]) tried.id = due[0].id;
      const wanted = await selectWanted(tx, userId, due, target);
      const read = await readTracesInto(tx, userId, wanted, parts);
      const unread = new Set(wanted.slice(read.length).map(({ trace }) => trace.id));
      const taken = due.filter(({ id }) => !unread.has(id));
      const columns = await writeParts(tx, userId, taken, read);
      await finish(tx, userId, { due: taken, read, columns, target });
      return taken.length;
    },
    { statement_timeout: statementTimeout },
  );
}

function takeChunk(due: DueTrace[]): DueTrace[] {
  let [messages, metadata] = [0, 0];
  return due.filter(({ isDeleted, messageCount, accountedTo, metadataBytes }, index) => {
    const known = accountedTo === 0 ? messageCount : Math.max(assumedTail, messageCount - accountedTo);
    messages += isDeleted ? 0 : Math.min(messageCount, known);
    metadata += metadataBytes + messageCount * factBytes;
    return index === 0 || (messages <= chunk.messages && metadata <= chunk.metadataBytes);
  });
}

async function selectWanted(tx: PoolClient, userId: string, due: DueTrace[], target: number): Promise<WantedTrace[]> {
  const live = new Map(due.filter(({ isDeleted }) => !isDeleted).map((one) => [one.id, one]));
  const wanted = (await readTraces(tx, userId, [...live.keys()])).flatMap((trace) => {
    const one = live.get(trace.id);
    return one ? [{ trace, due: one, from: one.accountedVersion < target ? 0 : one.accountedTo }] : [];
  });
  const grown = wanted.filter(({ from }) => from > 0).map(({ trace }) => trace);
  if (grown.length === 0) return wanted;
  const stale = await Promise.all(parts.map((part) => part.findStale?.(tx, userId, grown)));
  return wanted.map((one) => (stale.some((ids) => ids?.has(one.trace.id)) ? { ...one, from: 0 } : one));
}

async function writeParts(tx: PoolClient, userId: string, due: DueTrace[], read: ReadTrace[]): Promise<ColumnsToSet> {
  const columns: ColumnsToSet = new Map();
  const deleted = due.filter(({ isDeleted }) => isDeleted).map(({ id }) => id);
  for (const [at, part] of parts.entries()) {
    if (deleted.length > 0) joinColumns(columns, (await part.remove(tx, userId, deleted)) ?? new Map());
    const found = read.flatMap(({ trace, from, found }): Finding<unknown>[] =>
      found[at] ? [{ trace, from, found: found[at].value }] : [],
    );
    if (found.length === 0) continue;
    joinColumns(columns, await part.write(tx, userId, found));
    for (const { trace } of read) {
      const projectId = columns.get(trace.id)?.projectId;
      if (projectId !== undefined) trace.projectId = projectId;
    }
  }
  return columns;
}

async function finish(
  tx: PoolClient,
  userId: string,
  { due, read, columns, target }: { due: DueTrace[]; read: ReadTrace[]; columns: ColumnsToSet; target: number },
): Promise<void> {
  const ours = new Set(due.map(({ id }) => id));
  const others = [...columns.keys()].filter((id) => !ours.has(id));
  if (!(await lockOthers(tx, userId, others))) throw new Busy("an upload has a session that changes with these");
  const locked = await lockUnchanged(tx, userId, due);
  const deleted = due.filter(({ id, isDeleted }) => isDeleted && locked.has(id));
  await clearLinks(
    tx,
    userId,
    deleted.map(({ id }) => id),
  );
  const accountedTo = new Map(read.map((one) => [one.trace.id, one.accountedTo]));
  const marks = (ids: string[]): ColumnValues[] => [
    { name: "ledger_due", type: "bool", values: ids.map(() => false) },
    { name: "usage_due", type: "bool", values: ids.map(() => false) }, // the mark of the release before
    { name: "accounted_to", type: "int", values: ids.map((id) => accountedTo.get(id) ?? 0) },
    { name: "accounted_version", type: "int", values: ids.map(() => target) },
  ];
  for (const { ids, values } of columnValues([...locked].map((id) => [id, ownColumns(columns.get(id))]))) {
    await setColumns(tx, userId, ids, [...values, ...marks(ids)]);
  }
  for (const { ids, values } of columnValues(others.map((id) => [id, columns.get(id) ?? {}]))) {
    await setColumns(tx, userId, ids, values);
  }
}

function ownColumns({ ledgerDue: _, ...set }: Partial<DerivedColumns> = {}): Partial<DerivedColumns> {
  return set;
}
