import "server-only";
import type { PoolClient } from "pg";
import { haveSameFields, type TraceHeader } from "#lib/ingest/decode/manifest";
import type { CopyPlan } from "#lib/ingest/decode/operations";
import { copyMessages, deleteMessages, hashStored } from "#lib/ingest/process/sql/messages";
import {
  insertNewTraces,
  lockStoredTraces,
  type Pair,
  recordReplace,
  recordSequence,
  type UploadSource,
  updateMessageSums,
  updateTraces,
} from "#lib/ingest/process/sql/traces";
import type { StoredBatch } from "#lib/ingest/process/stored-batch";

/** What became of a batch's traces, how many message rows were written, and which traces were created or updated. */
export type MergeResult = {
  created: number;
  updated: number;
  unchanged: number;
  kept: { deleted: number; newer: number; shorter: number };
  written: number;
  writtenTraceIds: string[];
};

/**
 * Makes rows of a batch inside the transaction of `tx`:
 *
 * - a new trace is `created`; one with the same content is `unchanged`;
 * - a changed one is `updated`, and only the messages that differ are written: if its stored messages are the first ones of
 *   the upload, the others are appended without being compared;
 * - one with fewer messages than stored and without `replace`, one that its owner deleted, and one that a newer upload
 *   would have replaced are `kept` as stored.
 *
 * The uploads of a user have an order, and jobs may finish in another: what is stored in the end is what they would have
 * led to in their order. So an older upload still counts if it has more messages than a newer one that did not say
 * `replace`: in its turn, that newer one would have been kept out by it.
 *
 * Uploads with traces in common may run at the same time: all of them lock the traces' rows in the same order.
 */
export async function mergeBatch(tx: PoolClient, batch: StoredBatch, upload: UploadSource): Promise<MergeResult> {
  const { created, pairs } = await lockTraces(tx, batch.headers, upload);
  const { unchanged, changed, kept } = judge(pairs);
  // The decoding thread compares the messages while the traces are updated.
  const split = splitChanged(batch, changed);
  split.catch(() => {}); // a rejection is handled below, unless the database fails first
  await recordSequence(tx, unchanged, upload);
  await recordReplace(tx, pairs, upload);
  await updateChanged(tx, changed, upload);
  const { grown, edited } = await split;
  const plan: CopyPlan["traces"] = [
    ...[...created].map(([index, traceId]) => ({ index, traceId, skipBytes: 0 })),
    ...grown.map(({ index, stored }) => ({ index, traceId: stored.id, skipBytes: stored.messagesBytes ?? 0 })),
    ...(await deleteDiffering(tx, batch, edited, upload.userId)),
  ];
  const written = plan.length === 0 ? 0 : await copyMessages(tx, batch.rows({ userId: upload.userId, traces: plan }));
  return {
    created: created.size,
    updated: changed.length,
    unchanged: unchanged.length,
    kept,
    written,
    writtenTraceIds: [...created.values(), ...changed.map(({ stored }) => stored.id)],
  };
}

/**
 * Locks the rows of all traces of a batch, inserting those that are new, both in the order of their keys: uploads with
 * traces in common wait for each other, but not in a circle. A key that another upload inserts at this moment is waited for
 * and is then not new; a deadlock that this may still cause is broken by PostgreSQL, and the job is tried again.
 *
 * @returns the new rows' ids by the trace's index in the batch, and the other traces with what is stored of them.
 */
async function lockTraces(
  tx: PoolClient,
  headers: TraceHeader[],
  upload: UploadSource,
): Promise<{ created: Map<number, string>; pairs: Pair[] }> {
  const batch = headers.map((header, index) => ({ index, header }));
  const pairs = await lockStoredTraces(tx, batch, upload);
  const known = new Set(pairs.map(({ index }) => index));
  const missing = batch.filter(({ index }) => !known.has(index));
  const created = await insertNewTraces(tx, missing, upload);
  const late = missing.filter(({ index }) => !created.has(index));
  const latePairs = await lockStoredTraces(tx, late, upload);
  if (latePairs.length !== late.length) throw new Error("a trace was neither inserted nor found");
  return { created, pairs: [...pairs, ...latePairs] };
}

type Verdict = "unchanged" | "changed" | keyof MergeResult["kept"];

function judge(pairs: Pair[]): { unchanged: Pair[]; changed: Pair[]; kept: MergeResult["kept"] } {
  const {
    unchanged = [],
    changed = [],
    deleted = [],
    newer = [],
    shorter = [],
  } = Object.groupBy(pairs, ({ header, stored }): Verdict => {
    if (stored.deleted) return "deleted";
    if (stored.contentHash === header.contentHash) return "unchanged";
    if (stored.replacedByNewer) return "newer";
    if (stored.newer) return header.messageCount > stored.messageCount ? "changed" : "newer";
    return header.messageCount >= stored.messageCount || header.replace ? "changed" : "shorter";
  });
  const kept = { deleted: deleted.length, newer: newer.length, shorter: shorter.length };
  return { unchanged, changed, kept };
}

/** Separates traces that only grew (their stored messages are the upload's first ones) from all others. */
async function splitChanged(batch: StoredBatch, changed: Pair[]): Promise<{ grown: Pair[]; edited: Pair[] }> {
  const known = changed.flatMap(({ index, stored: { messagesBytes: bytes, messagesHash: hash } }) =>
    bytes === null || hash === null ? [] : [{ index, bytes, hash }],
  );
  const verdicts = await batch.grown(known);
  const grownIndexes = new Set(known.flatMap(({ index }, at) => (verdicts[at] ? [index] : [])));
  const { grown = [], edited = [] } = Object.groupBy(changed, ({ index }) =>
    grownIndexes.has(index) ? "grown" : "edited",
  );
  return { grown, edited };
}

/** How many stored messages are compared at a time. */
const maxCompared = 50_000;

/**
 * Deletes the stored messages of edited traces that are not in the upload, or not in the same form; metadata is the same
 * whatever the order of its keys.
 *
 * @returns the plan of what is then to be written.
 */
async function deleteDiffering(
  tx: PoolClient,
  batch: StoredBatch,
  edited: Pair[],
  userId: string,
): Promise<CopyPlan["traces"]> {
  const plan: CopyPlan["traces"] = [];
  for (const group of groupsOf(edited)) {
    const ids = group.map(({ stored }) => stored.id);
    const hashes = await hashStored(tx, userId, ids);
    const none = { positions: [], hashes: [] };
    const compared = await batch.compare(
      group.map(({ index, stored }) => ({ index, stored: hashes.get(stored.id) ?? none })),
    );
    const traceIds = compared.flatMap(({ other }, at) => other.map(() => ids[at] ?? ""));
    await deleteMessages(tx, userId, { traceIds, positions: compared.flatMap(({ other }) => other) });
    for (const [at, { index, stored }] of group.entries()) {
      plan.push({ index, traceId: stored.id, skipBytes: 0, except: compared[at]?.same ?? [] });
    }
  }
  return plan;
}

/** Traces in groups of at most `maxCompared` stored messages, or of one trace. */
function groupsOf(pairs: Pair[]): Pair[][] {
  const groups: Pair[][] = [];
  let messages = Number.POSITIVE_INFINITY;
  for (const pair of pairs) {
    messages += pair.stored.messageCount;
    if (messages > maxCompared) {
      groups.push([]);
      messages = pair.stored.messageCount;
    }
    groups.at(-1)?.push(pair);
  }
  return groups;
}

/** Updates the rows of changed traces: all columns only if a trace's own fields changed. */
async function updateChanged(tx: PoolClient, pairs: Pair[], upload: UploadSource): Promise<void> {
  const { same = [], other = [] } = Object.groupBy(pairs, ({ header, stored }) =>
    haveSameFields(header.contentHash, stored.contentHash) ? "same" : "other",
  );
  await updateMessageSums(tx, same, upload);
  await updateTraces(tx, other, upload);
}
