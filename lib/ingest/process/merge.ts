import "server-only";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { v7 as uuid } from "uuid";
import { haveSameFields, type TraceHeader } from "#lib/ingest/decode/manifest";
import { messageColumns } from "#lib/ingest/decode/message-rows";
import type { CopyPlan } from "#lib/ingest/decode/operations";
import type { StoredBatch } from "#lib/ingest/process/stored-batch";

/** What became of a batch's traces, and how many message rows were written. */
export type MergeCounts = { created: number; updated: number; unchanged: number; kept: number; written: number };

/** What an upload says of itself; `sequence` is its place in the order of the user's uploads. */
type Upload = { userId: string; sequence: string; machine: string };

type Stored = {
  id: string;
  source: string;
  sourceId: string;
  deleted: boolean;
  newer: boolean;
  replacedByNewer: boolean;
  messageCount: number;
  messagesBytes: number | null;
  messagesHash: string | null;
  contentHash: string;
};

/** A trace of the batch beside what is stored under its key. */
type Pair = { index: number; header: TraceHeader; stored: Stored };

/**
 * Makes rows of a batch inside the transaction of `tx`:
 *
 * - a new trace is `created`; one with the same content is `unchanged`;
 * - a changed one is `updated`: where its stored messages are the first ones of the upload, only the rest is written,
 *   otherwise all of them are replaced;
 * - one with fewer messages than stored and without `replace`, one that its owner deleted, and one that a newer upload
 *   would have replaced are `kept` as they are.
 *
 * The uploads of a user have an order, and jobs may finish in another: what is stored in the end is what they would have
 * led to in their order. So an older upload still counts where it has more messages than a newer one that did not say
 * `replace`: in its turn, that newer one would have been kept out by it.
 *
 * Uploads with traces in common may run at once: all of them take the traces' rows in the same order.
 */
export async function mergeBatch(tx: PoolClient, batch: StoredBatch, upload: Upload): Promise<MergeCounts> {
  const { created, pairs } = await lockTraces(tx, batch.headers, upload);
  const { unchanged, changed, kept } = judge(pairs);
  const plan: CopyPlan["traces"] = [...created].map(([index, traceId]) => ({ index, traceId, skipBytes: 0 }));
  // What is written of them is a question for the decoding thread; the traces themselves change in any case.
  const split = splitChanged(batch, changed);
  split.catch(() => {}); // is thrown below, unless the database fails before
  await noteSequence(tx, unchanged, upload);
  await noteReplace(tx, pairs, upload);
  await updateTraces(tx, changed, upload);
  const { grown, replaced } = await split;
  await deleteMessages(tx, replaced, upload.userId);
  for (const { index, stored } of grown) plan.push({ index, traceId: stored.id, skipBytes: stored.messagesBytes ?? 0 });
  for (const { index, stored } of replaced) plan.push({ index, traceId: stored.id, skipBytes: 0 });
  const written = await copyMessages(tx, batch, { userId: upload.userId, traces: plan });
  return {
    created: created.size,
    updated: changed.length,
    unchanged: unchanged.length,
    kept: kept.length,
    written,
  };
}

/** A column of a trace that an upload sets. */
type Column = { name: string; type: string; value: (header: TraceHeader) => unknown };

const column = (name: string, type: string, value: Column["value"]): Column => ({ name, type, value });
const time = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds).toISOString());

const keyColumns = [
  column("source", "text", ({ source }) => source),
  column("source_id", "text", ({ sourceId }) => sourceId),
];
/** What a trace's messages come to. */
const messagesColumns = [
  column("derived_title", "text", ({ derivedTitle }) => derivedTitle),
  column("message_count", "int", ({ messageCount }) => messageCount),
  column("token_count", "bigint", ({ tokenCount }) => tokenCount),
  column("sanitized", "bool", ({ sanitized }) => sanitized),
  column("content_hash", "bytea", ({ contentHash }) => Buffer.from(contentHash, "base64")),
  column("messages_bytes", "int", ({ text }) => text?.bytes),
  column("messages_hash", "bytea", ({ text }) => text && Buffer.from(text.hash, "base64")),
];
const contentColumns = [
  column("model", "text", ({ model }) => model),
  column("title", "text", ({ title }) => title),
  column("project", "text", ({ project }) => project),
  column("created_at", "timestamptz", ({ createdAt }) => time(createdAt)),
  column("metadata", "jsonb", ({ metadata }) => metadata),
  ...messagesColumns,
];
/** Is no column of the table: what the activity is decided by, in SQL. */
const lastMessageAt = column("last_message_at", "timestamptz", (header) => time(header.lastMessageAt));

const namesOf = (columns: Column[]) => columns.map(({ name }) => name).join(", ");
const valuesOf = (columns: Column[], traces: { header: TraceHeader }[]) =>
  columns.map(({ value }) => traces.map(({ header }) => value(header)));
/** Rows of arrays of some types, which are the parameters from `$4`. */
const unnest = (types: string[]) => `unnest(${types.map((type, index) => `$${index + 4}::${type}[]`).join(", ")})`;

/**
 * Takes the rows of all traces of a batch: those that exist are locked, the others are inserted, both in the order of
 * their keys, which keeps uploads with traces in common from waiting for each other in a circle. A key that another
 * upload inserts at this moment is waited for and is then not new; should that ever close a circle after all, PostgreSQL
 * breaks it and the job is tried again.
 *
 * @returns the new rows' ids by the trace's index in the batch, and the others beside what is stored of them.
 */
async function lockTraces(
  tx: PoolClient,
  headers: TraceHeader[],
  upload: Upload,
): Promise<{ created: Map<number, string>; pairs: Pair[] }> {
  const batch = headers.map((header, index) => ({ index, header }));
  const pairs = await lockStored(tx, batch, upload);
  const known = new Set(pairs.map(({ index }) => index));
  const missing = batch.filter(({ index }) => !known.has(index));
  const created = await insertNew(tx, missing, upload);
  const late = missing.filter(({ index }) => !created.has(index));
  const latePairs = await lockStored(tx, late, upload);
  if (latePairs.length !== late.length) throw new Error("a trace was neither inserted nor found");
  return { created, pairs: [...pairs, ...latePairs] };
}

/** A trace of the batch and its place there. */
type Placed = { index: number; header: TraceHeader };

/** Inserts the traces whose keys are free. @returns the new rows' ids by the trace's index in the batch */
async function insertNew(
  tx: PoolClient,
  traces: Placed[],
  { userId, sequence, machine }: Upload,
): Promise<Map<number, string>> {
  if (traces.length === 0) return new Map();
  const ids = traces.map(() => uuid());
  const stored = [...keyColumns, ...contentColumns];
  const given = [...stored, lastMessageAt];
  const { rows } = await tx.query<{ id: string }>(
    `insert into trace (user_id, id, machine, ${namesOf(stored)}, activity_at, upload_sequence, replace_sequence)
     select $1::uuid, id, $3, ${namesOf(stored)}, least(coalesce(last_message_at, created_at, now()), now()), $2::bigint,
       case when replaces then $2::bigint else 0 end
     from ${unnest(["uuid", "bool", ...given.map(({ type }) => type)])} as given (id, replaces, ${namesOf(given)})
     order by source collate "C", source_id collate "C"
     on conflict (user_id, source, source_id) do nothing returning id`,
    [userId, sequence, machine, ids, traces.map(({ header }) => header.replace), ...valuesOf(given, traces)],
  );
  const indexes = new Map(ids.map((id, place) => [id, traces[place]?.index ?? -1]));
  return new Map(rows.map(({ id }) => [indexes.get(id) ?? -1, id]));
}

/**
 * Locks the rows that are stored under the traces' keys, in the order of the keys. Each is looked up by itself, which only a
 * lateral subquery that locks makes sure of: as a join, PostgreSQL went through all of a user's traces (1000 of 50,000 took
 * 50 ms, and take 6).
 */
async function lockStored(tx: PoolClient, traces: Placed[], { userId, sequence }: Upload): Promise<Pair[]> {
  if (traces.length === 0) return [];
  const { rows } = await tx.query<Stored>(
    `select stored.* from (
       select * from unnest($3::text[], $4::text[]) as given (source, source_id)
       order by source collate "C", source_id collate "C"
     ) as given cross join lateral (
       select id, source, source_id as "sourceId", deleted_at is not null as deleted, upload_sequence > $2 as newer,
              replace_sequence > $2 as "replacedByNewer",
              message_count as "messageCount", messages_bytes as "messagesBytes",
              encode(messages_hash, 'base64') as "messagesHash", encode(content_hash, 'base64') as "contentHash"
       from trace where user_id = $1 and source = given.source and source_id = given.source_id for update
     ) as stored`,
    [userId, sequence, traces.map(({ header }) => header.source), traces.map(({ header }) => header.sourceId)],
  );
  const keyOf = (trace: { source: string; sourceId: string }) => JSON.stringify([trace.source, trace.sourceId]);
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return traces.flatMap(({ index, header }) => {
    const stored = byKey.get(keyOf(header));
    return stored ? [{ index, header, stored }] : [];
  });
}

function judge(pairs: Pair[]): { unchanged: Pair[]; changed: Pair[]; kept: Pair[] } {
  const {
    unchanged = [],
    changed = [],
    kept = [],
  } = Object.groupBy(pairs, ({ header, stored }) => {
    if (stored.deleted) return "kept";
    if (stored.contentHash === header.contentHash) return "unchanged";
    if (stored.replacedByNewer) return "kept";
    if (stored.newer) return header.messageCount > stored.messageCount ? "changed" : "kept";
    return header.messageCount >= stored.messageCount || header.replace ? "changed" : "kept";
  });
  return { unchanged, changed, kept };
}

/** Tells the traces that only grew (their stored messages are the upload's first ones) from those written anew. */
async function splitChanged(batch: StoredBatch, changed: Pair[]): Promise<{ grown: Pair[]; replaced: Pair[] }> {
  const known = changed.flatMap(({ index, stored: { messagesBytes: bytes, messagesHash: hash } }) =>
    bytes === null || hash === null ? [] : [{ index, bytes, hash }],
  );
  const verdicts = await batch.grown(known);
  const grownIndexes = new Set(known.flatMap(({ index }, at) => (verdicts[at] ? [index] : [])));
  const { grown = [], replaced = [] } = Object.groupBy(changed, ({ index }) =>
    grownIndexes.has(index) ? "grown" : "replaced",
  );
  return { grown, replaced };
}

/**
 * An upload that found its traces unchanged still was the newest to say so: none older may change them afterwards. Where
 * none older is left that could, there is nothing to note.
 */
async function noteSequence(tx: PoolClient, pairs: Pair[], upload: Upload): Promise<void> {
  const older = pairs.filter(({ stored }) => !stored.newer).map(({ stored }) => stored.id);
  if (older.length === 0) return;
  await tx.query(
    `update trace set upload_sequence = $2 where user_id = $1 and id = any($3)
       and exists (select 1 from ingest_job where user_id = $1 and sequence < $2 and status <> 'succeeded')`,
    [upload.userId, upload.sequence, older],
  );
}

/** Remembers the newest upload that said `replace`, whatever became of it here. */
async function noteReplace(tx: PoolClient, pairs: Pair[], upload: Upload): Promise<void> {
  const ids = pairs.filter(({ header }) => header.replace).map(({ stored }) => stored.id);
  if (ids.length === 0) return;
  await tx.query(
    "update trace set replace_sequence = greatest(replace_sequence, $2::bigint) where user_id = $1 and id = any($3)",
    [upload.userId, upload.sequence, ids],
  );
}

/** Writes what the upload says of traces; of those whose own fields are as they were, only what their messages come to. */
async function updateTraces(tx: PoolClient, pairs: Pair[], upload: Upload): Promise<void> {
  const { same = [], other = [] } = Object.groupBy(pairs, ({ header, stored }) =>
    haveSameFields(header.contentHash, stored.contentHash) ? "same" : "other",
  );
  await updateColumns(tx, same, messagesColumns, upload);
  await updateColumns(tx, other, contentColumns, upload);
}

async function updateColumns(
  tx: PoolClient,
  pairs: Pair[],
  columns: Column[],
  { userId, sequence, machine }: Upload,
): Promise<void> {
  if (pairs.length === 0) return;
  const given = [...columns, lastMessageAt];
  const set = columns.map(({ name }) => `${name} = given.${name}`);
  await tx.query(
    `update trace set ${set.join(", ")}, machine = $3, upload_sequence = $2::bigint, stored_at = now(),
            usage_due = true, search_pending = true,
            activity_at = least(coalesce(given.last_message_at, now()), now())
     from ${unnest(["uuid", ...given.map(({ type }) => type)])} as given (id, ${namesOf(given)})
     where trace.user_id = $1::uuid and trace.id = given.id`,
    [userId, sequence, machine, pairs.map(({ stored }) => stored.id), ...valuesOf(given, pairs)],
  );
}

async function deleteMessages(tx: PoolClient, pairs: Pair[], userId: string): Promise<void> {
  if (pairs.length === 0) return;
  await tx.query("delete from message where user_id = $1 and trace_id = any($2)", [
    userId,
    pairs.map(({ stored }) => stored.id),
  ]);
}

async function copyMessages(tx: PoolClient, batch: StoredBatch, plan: CopyPlan): Promise<number> {
  if (plan.traces.length === 0) return 0;
  const stream = tx.query(copyFrom(`copy message (${messageColumns}) from stdin (format binary)`));
  await pipeline(batch.rows(plan), stream); // a Readable in between would read as many as 16 parts ahead
  return stream.rowCount;
}
