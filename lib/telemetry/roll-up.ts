import "server-only";
import type { Prisma } from "#lib/generated/prisma/client";
import type { Submission } from "#lib/telemetry/schema";
import { type DaySums, upsertDays, upsertDevice } from "#lib/telemetry/sql";

/**
 * What is counted separately for a user's day, and for an adapter's; anything beyond, and a type with a longer name, is
 * counted under the empty name. Each report writes its adapters' types again, so without a token there are fewer: a small
 * report must not cost much more than its budget counts (lib/telemetry/budget.ts).
 */
const bounds = { pairsPerDay: 200, typesPerDay: 50, anonymousTypesPerDay: 20, typeLength: 64 };
/** The largest integer that JSON carries exactly. Sums stop there instead of overflowing. */
const maxSum = Number.MAX_SAFE_INTEGER;

/** The owner of the token a report came with, and the token's machine; undefined without a token. */
export type ReportSender = { userId: string; machine: string } | undefined;

/** A report's diagnostics of one adapter together. `troubled`: some of it was not understood or was rejected. */
type AdapterSums = DaySums & { troubled: boolean };

/**
 * Adds a report to the counts that `/diagnostics` shows: its day, each adapter's devices, and the device itself. Runs in
 * the report's own transaction, so that either both exist or neither does.
 */
export async function rollUp(
  tx: Prisma.TransactionClient,
  submission: Submission,
  sender: ReportSender,
): Promise<void> {
  const { userId, machine } = sender ?? { userId: null, machine: null };
  const { cliVersion } = submission;
  const maxTypes = sender ? bounds.typesPerDay : bounds.anonymousTypesPerDay;
  const sums = sumByAdapter(submission.diagnostics, maxTypes);
  const today = await upsertDevice(tx, submission, { userId, machine }, sums);
  const known = new Set(today.adapters);
  const separate: AdapterSums[] = [];
  const others: AdapterSums[] = [];
  let room = bounds.pairsPerDay - today.pairs;
  for (const one of sums) {
    if (known.has(one.adapter)) separate.push(one);
    else if (room-- > 0) separate.push(one);
    else others.push({ ...one, adapter: "" });
  }
  const max = { maxSum, maxTypes };
  if (separate.length > 0) await upsertDays(tx, { userId, cliVersion }, separate, max);
  if (others.length > 0) {
    const merged = [...mergeByAdapter(others, maxTypes).values()];
    await upsertDays(tx, { userId, cliVersion: "" }, merged, max);
  }
}

/** Sums by adapter, sorted by name: all processes lock the rows in the same order, so that they can't deadlock. */
function sumByAdapter(diagnostics: Submission["diagnostics"], maxTypes: number): AdapterSums[] {
  const single = diagnostics.map((one) => ({
    adapter: one.adapter,
    scans: 1,
    entries: one.totalEntries,
    skipped: one.skippedEntries,
    invalid: one.invalidEntries,
    traces: one.traceCount,
    rejected: one.rejectedTraces,
    emptyParses: one.emptyParse ? 1 : 0,
    unhandled: countTypes(one.unhandledTypes, maxTypes),
    troubled: one.emptyParse || one.invalidEntries + one.rejectedTraces + one.unhandledTypes.length > 0,
  }));
  return [...mergeByAdapter(single, maxTypes).values()].sort((a, b) => (a.adapter < b.adapter ? -1 : 1));
}

/** Counts by a client's text. Has no prototype, so that `__proto__` is a key like any other. */
type EventCounts = Record<string, number>;

/** Counts each type once per scan, however often it is listed. */
function countTypes(types: string[], maxTypes: number): EventCounts {
  const counts: EventCounts = Object.create(null);
  for (const type of new Set(types)) addType(counts, type.length > bounds.typeLength ? "" : type, 1, maxTypes);
  return counts;
}

/** Adds to a type's count, or to the empty name's if there are already as many types as are counted separately. */
function addType(counts: EventCounts, type: string, count: number, maxTypes: number): void {
  const name = type in counts || Object.keys(counts).length < maxTypes ? type : "";
  counts[name] = addUp(counts[name] ?? 0, count);
}

function mergeByAdapter(sums: AdapterSums[], maxTypes: number): Map<string, AdapterSums> {
  const merged = new Map<string, AdapterSums>();
  for (const one of sums) {
    const before = merged.get(one.adapter);
    merged.set(one.adapter, before ? addSums(before, one, maxTypes) : one);
  }
  return merged;
}

const addUp = (a: number, b: number) => Math.min(maxSum, a + b);

function addSums(a: AdapterSums, b: AdapterSums, maxTypes: number): AdapterSums {
  const unhandled: EventCounts = Object.assign(Object.create(null), a.unhandled);
  for (const [type, count] of Object.entries(b.unhandled)) addType(unhandled, type, count, maxTypes);
  return {
    adapter: a.adapter,
    scans: addUp(a.scans, b.scans),
    entries: addUp(a.entries, b.entries),
    skipped: addUp(a.skipped, b.skipped),
    invalid: addUp(a.invalid, b.invalid),
    traces: addUp(a.traces, b.traces),
    rejected: addUp(a.rejected, b.rejected),
    emptyParses: addUp(a.emptyParses, b.emptyParses),
    unhandled,
    troubled: a.troubled || b.troubled,
  };
}
