import "server-only";
import type { PoolClient } from "pg";
import type { z } from "zod";
import { haveSameFields } from "#lib/ingest/decode/content-hash";
import type { TraceHeader } from "#lib/ingest/decode/manifest";
import type { CopyPlan } from "#lib/ingest/decode/operations";
import type { Comparison } from "#lib/ingest/decode/row-hashes";
import {
  type Appends,
  isBetween,
  isPromptsOnly,
  judgeAppends,
  mendTitles,
  updateAppends,
} from "#lib/ingest/process/append";
import { copyMessages, deleteMessages, hashStored } from "#lib/ingest/process/sql/messages";
import {
  type BatchTrace,
  insertNewTraces,
  lockStoredTraces,
  type Pair,
  recordHashes,
  recordReplace,
  recordRewrite,
  recordSequence,
  type UploadSource,
  updateMessageSums,
  updateTraces,
} from "#lib/ingest/process/sql/traces";
import type { StoredBatch } from "#lib/ingest/process/stored-batch";
import { type incompleteTrace, keptReasons, type keptTrace } from "#lib/ingest/schema";
import { linkPictures, type TraceLinks } from "#lib/messages/pictures/sql";

export type MergeResult = {
  created: number;
  updated: number;
  unchanged: number;
  kept: Record<KeptReason, number>;
  keptTraces: z.input<typeof keptTrace>[];
  incomplete: z.input<typeof incompleteTrace>[];
  written: number;
  deletedBytes: number;
  writtenTraceIds: string[];
};

/**
 * Fewer messages without `replace`, a deleted trace, and a newer upload leave a trace `kept`; `prompts-only` gives way to a
 * whole session. Jobs may finish out of order, so an older upload counts if it has more messages than a newer one without
 * `replace`.
 */
export async function mergeBatch(tx: PoolClient, batch: StoredBatch, upload: UploadSource): Promise<MergeResult> {
  const { created, pairs, missing } = await lockTraces(tx, batch.headers, upload);
  const { whole = [], append = [] } = Object.groupBy(pairs, ({ header }) =>
    header.append === null ? "whole" : "append",
  );
  const judged = judge(whole);
  const appends = await judgeAppends(tx, batch, append, upload.userId);
  const { unchanged, changed, newer } = await settle(tx, batch, judged.changed, upload.userId);
  // The decoding thread compares messages while the traces are updated.
  const split = splitChanged(batch, changed);
  split.catch(() => {}); // handled below, unless the database fails first
  const same = [...judged.unchanged, ...unchanged, ...appends.unchanged];
  await recordSequence(
    tx,
    same.filter(({ header, stored }) => isPromptsOnly(header) === stored.isPromptsOnly),
    upload,
  );
  await recordReplace(tx, pairs, upload);
  await updateChanged(tx, changed, upload);
  await updateAppends(tx, appends.changed, upload);
  const { grown, edited } = await split;
  await recordRewrite(tx, [...edited, ...appends.changed.filter(isBetween)], upload.userId);
  const { rewritten, deletedBytes } = await deleteDiffering(tx, batch, edited, upload.userId);
  const plan: CopyPlan["traces"] = [
    ...[...created].map(([index, traceId]) => ({ index, traceId, skipBytes: 0 })),
    ...grown.map(({ index, stored }) => ({ index, traceId: stored.id, skipBytes: stored.messagesBytes ?? 0 })),
    ...appends.changed
      .filter(({ hasMore }) => hasMore)
      .map(({ index, stored }) => ({ index, traceId: stored.id, skipBytes: 0 })),
    ...rewritten,
  ];
  const written = plan.length === 0 ? 0 : await copyMessages(tx, batch.rows({ userId: upload.userId, traces: plan }));
  await mendTitles(tx, appends.changed, upload.userId);
  await linkPictures(tx, upload, listLinks(batch.headers, created, { same, changed, appended: appends.changed }));
  const kept = {
    ...judged.kept,
    deleted: [...judged.kept.deleted, ...appends.deleted],
    newer: [...judged.kept.newer, ...newer],
  };
  return {
    created: created.size,
    updated: changed.length + appends.changed.length,
    unchanged: same.length,
    kept: { deleted: kept.deleted.length, newer: kept.newer.length, shorter: kept.shorter.length },
    keptTraces: keptReasons.flatMap((reason) => kept[reason].map((pair) => ({ ...describeStored(pair), reason }))),
    incomplete: describeIncomplete(missing, appends),
    written,
    deletedBytes,
    writtenTraceIds: [...created.values(), ...[...changed, ...appends.changed].map(({ stored }) => stored.id)],
  };
}

const describeIncomplete = (missing: BatchTrace[], { incomplete }: Appends): MergeResult["incomplete"] => [
  ...missing.map(({ header: { source, sourceId } }) => ({ source, sourceId, messageCount: 0 })),
  ...incomplete.map(describeStored),
];

const describeStored = ({ stored: { source, sourceId, messageCount } }: Pair) => ({ source, sourceId, messageCount });

/**
 * The order of the keys keeps uploads from waiting in a circle; PostgreSQL breaks other deadlocks, and the job is retried.
 * @returns `missing` has appends to what is not stored
 */
async function lockTraces(
  tx: PoolClient,
  headers: TraceHeader[],
  upload: UploadSource,
): Promise<{ created: Map<number, string>; pairs: Pair[]; missing: BatchTrace[] }> {
  const batch = headers.map((header, index) => ({ index, header }));
  const pairs = await lockStoredTraces(tx, batch, upload);
  const known = new Set(pairs.map(({ index }) => index));
  const { unknown = [], missing = [] } = Object.groupBy(
    batch.filter(({ index }) => !known.has(index)),
    ({ header }) => ((header.append ?? 0) === 0 ? "unknown" : "missing"),
  );
  const created = await insertNewTraces(tx, unknown, upload);
  const late = unknown.filter(({ index }) => !created.has(index));
  const latePairs = await lockStoredTraces(tx, late, upload);
  if (latePairs.length !== late.length) throw new Error("a trace was neither inserted nor found");
  return { created, pairs: [...pairs, ...latePairs], missing };
}

type Verdict = "unchanged" | "changed" | KeptReason;
type KeptReason = (typeof keptReasons)[number];

function judge(pairs: Pair[]): { unchanged: Pair[]; changed: Pair[]; kept: Record<KeptReason, Pair[]> } {
  const {
    unchanged = [],
    changed = [],
    deleted = [],
    newer = [],
    shorter = [],
  } = Object.groupBy(pairs, ({ header, stored }): Verdict => {
    if (stored.deleted) return "deleted";
    if (stored.contentHash === header.contentHash) return "unchanged";
    // A whole session replaces its `prompts-only` form.
    if (isPromptsOnly(header) !== stored.isPromptsOnly) return stored.isPromptsOnly ? "changed" : "unchanged";
    if (stored.replacedByNewer) return "newer";
    if (stored.newer) return header.messageCount > stored.messageCount ? "changed" : "newer";
    return header.messageCount >= stored.messageCount || header.replace ? "changed" : "shorter";
  });
  return { unchanged, changed, kept: { deleted, newer, shorter } };
}

/** The content hash shows nothing after appends. */
async function settle(
  tx: PoolClient,
  batch: StoredBatch,
  changed: Pair[],
  userId: string,
): Promise<{ unchanged: Pair[]; changed: Pair[]; newer: Pair[] }> {
  const {
    same = [],
    newer = [],
    clear = [],
  } = Object.groupBy(changed, ({ header, stored }) => {
    if (stored.appendedByNewer) return "newer";
    const isSame = stored.messagesHash === null && haveSameFields(header.contentHash, stored.contentHash);
    return isSame && header.messageCount === stored.messageCount ? "same" : "clear";
  });
  const lost = new Set<Pair>();
  for (const group of groupByMessages([...same, ...newer])) {
    const compared = await compareStored(tx, batch, group, userId);
    for (const [at, pair] of group.entries()) if (compared[at]?.other.length !== 0) lost.add(pair);
  }
  const unchanged = same.filter((pair) => !lost.has(pair));
  await recordHashes(tx, unchanged, userId);
  return {
    unchanged,
    changed: [...clear, ...same.filter((pair) => lost.has(pair)), ...newer.filter((pair) => !lost.has(pair))],
    newer: newer.filter((pair) => lost.has(pair)),
  };
}

async function compareStored(tx: PoolClient, batch: StoredBatch, pairs: Pair[], userId: string): Promise<Comparison[]> {
  const hashes = await hashStored(
    tx,
    userId,
    pairs.map(({ stored }) => stored.id),
  );
  const none = { positions: [], hashes: [] };
  return batch.compare(pairs.map(({ index, stored }) => ({ index, stored: hashes.get(stored.id) ?? none })));
}

/** `grown` traces have the stored messages as their first ones. */
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

const maxCompared = 50_000;

/** @returns what to write, and the bytes deleted */
async function deleteDiffering(
  tx: PoolClient,
  batch: StoredBatch,
  edited: Pair[],
  userId: string,
): Promise<{ rewritten: CopyPlan["traces"]; deletedBytes: number }> {
  const rewritten: CopyPlan["traces"] = [];
  let deletedBytes = 0;
  for (const group of groupByMessages(edited)) {
    const ids = group.map(({ stored }) => stored.id);
    const compared = await compareStored(tx, batch, group, userId);
    const traceIds = compared.flatMap(({ other }, at) => other.map(() => ids[at] ?? ""));
    deletedBytes += await deleteMessages(tx, userId, { traceIds, positions: compared.flatMap(({ other }) => other) });
    for (const [at, { index, stored }] of group.entries()) {
      rewritten.push({ index, traceId: stored.id, skipBytes: 0, except: compared[at]?.same ?? [] });
    }
  }
  return { rewritten, deletedBytes };
}

function groupByMessages(pairs: Pair[]): Pair[][] {
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

async function updateChanged(tx: PoolClient, pairs: Pair[], upload: UploadSource): Promise<void> {
  const { same = [], other = [] } = Object.groupBy(pairs, ({ header, stored }) =>
    haveSameFields(header.contentHash, stored.contentHash) ? "same" : "other",
  );
  await updateMessageSums(tx, same, upload);
  await updateTraces(tx, other, upload);
}

/** An earlier version stored messages without pictures, and a session's prompts say nothing of them. */
function listLinks(
  headers: TraceHeader[],
  created: Map<number, string>,
  stored: { same: Pair[]; changed: Pair[]; appended: Pair[] },
): TraceLinks[] {
  const link =
    (isWhole: boolean) =>
    ({ header, stored: { id, isPromptsOnly: isPrompts } }: Pair): TraceLinks[] =>
      !isWhole && (header.pictures.length === 0 || isPromptsOnly(header) !== isPrompts)
        ? []
        : [{ traceId: id, isWhole, pictures: header.pictures }];
  const isNew = [...created].flatMap(([index, traceId]) => {
    const { pictures = [] } = headers[index] ?? {};
    return pictures.length === 0 ? [] : [{ traceId, isWhole: false, pictures }];
  });
  return [
    ...isNew,
    ...stored.changed.flatMap(link(true)),
    ...[...stored.same, ...stored.appended].flatMap(link(false)),
  ];
}
