import "server-only";
import type { Prisma } from "#lib/generated/prisma/client";
import type { Submission } from "#lib/telemetry/schema";
import { type DaySums, upsertDays, upsertDevice } from "#lib/telemetry/sql";

/**
 * Everything else is counted under the empty name. Without a token there are fewer types, since each report rewrites
 * them, and a small report must not cost more than its budget counts.
 */
const bounds = { pairsPerDay: 200, typesPerDay: 50, anonymousTypesPerDay: 20, typeLength: 64 };
/** Sums stop at the largest integer in JSON. */
const maxSum = Number.MAX_SAFE_INTEGER;

export type ReportSender = { userId: string; machine: string } | undefined;

/** `troubled` means that something was not understood or was rejected. */
type AdapterSums = DaySums & { troubled: boolean };

/** Runs in the report's transaction. */
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

/** Sorted, so that all processes lock rows in the same order and can't deadlock. */
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

/** Without a prototype, so that `__proto__` is an ordinary key. */
type EventCounts = Record<string, number>;

/** Each type counts once per scan. */
function countTypes(types: string[], maxTypes: number): EventCounts {
  const counts: EventCounts = Object.create(null);
  for (const type of new Set(types)) addType(counts, type.length > bounds.typeLength ? "" : type, 1, maxTypes);
  return counts;
}

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
