// SQL: one statement for all traces of a batch, with locks, on the connection of COPY.
import "server-only";
import type { PoolClient } from "pg";
import { v7 as uuid } from "uuid";
import { hashMessages } from "#lib/ingest/decode/content-hash";
import type { TraceHeader } from "#lib/ingest/decode/manifest";

/** `sequence` is the upload's place among its user's. */
export type UploadSource = { userId: string; sequence: string; machine: string };

export type BatchTrace = { index: number; header: TraceHeader };

/** `newer` means that a newer upload wrote it. */
type StoredTrace = {
  id: string;
  source: string;
  sourceId: string;
  deleted: boolean;
  newer: boolean;
  replacedByNewer: boolean;
  appendedByNewer: boolean;
  messageCount: number;
  messagesBytes: number | null;
  messagesHash: string | null;
  contentHash: string;
  isPromptsOnly: boolean;
};

export type Pair = BatchTrace & { stored: StoredTrace };

type Column = { name: string; type: string; value: (header: TraceHeader) => unknown };

const column = (name: string, type: string, value: Column["value"]): Column => ({ name, type, value });
const time = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds).toISOString());

const keyColumns = [
  column("source", "text", ({ source }) => source),
  column("source_id", "text", ({ sourceId }) => sourceId),
];
/** Derived from a trace's messages. */
const messagesColumns = [
  column("derived_title", "text", ({ derivedTitle }) => derivedTitle),
  column("title_rank", "int2", ({ titleRank }) => titleRank),
  column("message_count", "int", ({ messageCount }) => messageCount),
  column("token_count", "bigint", ({ tokenCount }) => tokenCount),
  column("sanitized", "bool", ({ sanitized }) => sanitized),
  column("content_hash", "bytea", ({ contentHash }) => Buffer.from(contentHash, "base64")),
  column("messages_bytes", "int", ({ rowBytes }) => rowBytes),
  column("messages_hash", "bytea", ({ contentHash }) => hashMessages(contentHash)),
  column("stored_bytes", "int", ({ rowBytes }) => rowBytes),
];
const allColumns = [
  column("model", "text", ({ model }) => model),
  column("title", "text", ({ title }) => title),
  column("project", "text", ({ project }) => project),
  column("created_at", "timestamptz", ({ createdAt }) => time(createdAt)),
  column("metadata", "jsonb", ({ metadata }) => metadata),
  ...messagesColumns,
];
/** `activity_at` is computed from it, and is 1970 without a time, so that an upload does not look like activity. */
const lastMessageAt = column("last_message_at", "timestamptz", (header) => time(header.lastMessageAt));

const joinNames = (columns: Column[]) => columns.map(({ name }) => name).join(", ");
const collectValues = (columns: Column[], traces: { header: TraceHeader }[]) =>
  columns.map(({ value }) => traces.map(({ header }) => value(header)));
/** From `$4` on. */
const unnest = (types: string[]) => `unnest(${types.map((type, index) => `$${index + 4}::${type}[]`).join(", ")})`;

/**
 * The order of the keys prevents deadlocks.
 * @returns the new ids by the trace's index
 */
export async function insertNewTraces(
  tx: PoolClient,
  traces: BatchTrace[],
  { userId, sequence, machine }: UploadSource,
): Promise<Map<number, string>> {
  if (traces.length === 0) return new Map();
  const ids = traces.map(() => uuid());
  const stored = [...keyColumns, ...allColumns];
  const given = [...stored, lastMessageAt];
  const { rows } = await tx.query<{ id: string }>(
    `insert into trace (user_id, id, machine, ${joinNames(stored)}, activity_at, dated, upload_sequence, replace_sequence, usage_due)
     select $1::uuid, id, $3, ${joinNames(stored)}, least(coalesce(last_message_at, created_at, 'epoch'), now()),
       coalesce(last_message_at, created_at) is not null, $2::bigint,
       case when replaces then $2::bigint else 0 end, false
     from ${unnest(["uuid", "bool", ...given.map(({ type }) => type)])} as given (id, replaces, ${joinNames(given)})
     order by source collate "C", source_id collate "C"
     on conflict (user_id, source, source_id) do nothing returning id`,
    [userId, sequence, machine, ids, traces.map(({ header }) => header.replace), ...collectValues(given, traces)],
  );
  const indexes = new Map(ids.map((id, place) => [id, traces[place]?.index ?? -1]));
  return new Map(rows.map(({ id }) => [indexes.get(id) ?? -1, id]));
}

/** Only a lateral subquery that locks looks each row up; a join reads all of a user's traces. */
export async function lockStoredTraces(
  tx: PoolClient,
  traces: BatchTrace[],
  { userId, sequence }: UploadSource,
): Promise<Pair[]> {
  if (traces.length === 0) return [];
  const { rows } = await tx.query<StoredTrace>(
    `select stored.* from (
       select * from unnest($3::text[], $4::text[]) as given (source, source_id)
       order by source collate "C", source_id collate "C"
     ) as given cross join lateral (
       select id, source, source_id as "sourceId", deleted_at is not null as deleted, upload_sequence > $2 as newer,
              replace_sequence > $2 as "replacedByNewer", append_sequence > $2 as "appendedByNewer",
              message_count as "messageCount", messages_bytes as "messagesBytes",
              encode(messages_hash, 'base64') as "messagesHash", encode(content_hash, 'base64') as "contentHash",
              metadata->>'kind' is not distinct from 'prompts-only' as "isPromptsOnly"
       from trace where user_id = $1 and source = given.source and source_id = given.source_id for update
     ) as stored`,
    [userId, sequence, traces.map(({ header }) => header.source), traces.map(({ header }) => header.sourceId)],
  );
  const makeKey = (trace: { source: string; sourceId: string }) => JSON.stringify([trace.source, trace.sourceId]);
  const byKey = new Map(rows.map((row) => [makeKey(row), row]));
  return traces.flatMap(({ index, header }) => {
    const stored = byKey.get(makeKey(header));
    return stored ? [{ index, header, stored }] : [];
  });
}

/** Older uploads must not change unchanged traces. */
export async function recordSequence(tx: PoolClient, pairs: Pair[], upload: UploadSource): Promise<void> {
  const older = pairs.filter(({ stored }) => !stored.newer).map(({ stored }) => stored.id);
  if (older.length === 0) return;
  await tx.query(
    `update trace set upload_sequence = $2 where user_id = $1 and id = any($3)
       and exists (select 1 from ingest_job where user_id = $1 and sequence < $2 and status <> 'succeeded')`,
    [upload.userId, upload.sequence, older],
  );
}

export async function recordHashes(tx: PoolClient, pairs: Pair[], userId: string): Promise<void> {
  if (pairs.length === 0) return;
  await tx.query(
    `update trace set content_hash = given.content_hash, messages_bytes = given.bytes, messages_hash = given.hash
     from unnest($2::uuid[], $3::bytea[], $4::int[], $5::bytea[]) as given (id, content_hash, bytes, hash)
     where trace.user_id = $1 and trace.id = given.id`,
    [
      userId,
      pairs.map(({ stored }) => stored.id),
      pairs.map(({ header }) => Buffer.from(header.contentHash, "base64")),
      pairs.map(({ header }) => header.rowBytes),
      pairs.map(({ header }) => hashMessages(header.contentHash)),
    ],
  );
}

/** Records the newest `replace`, whether or not it changed the trace. */
export async function recordReplace(tx: PoolClient, pairs: Pair[], upload: UploadSource): Promise<void> {
  const ids = pairs.filter(({ header }) => header.replace).map(({ stored }) => stored.id);
  if (ids.length === 0) return;
  await tx.query(
    "update trace set replace_sequence = greatest(replace_sequence, $2::bigint) where user_id = $1 and id = any($3)",
    [upload.userId, upload.sequence, ids],
  );
}

export const updateTraces = (tx: PoolClient, pairs: Pair[], upload: UploadSource) =>
  updateColumns(tx, pairs, allColumns, upload);

export const updateMessageSums = (tx: PoolClient, pairs: Pair[], upload: UploadSource) =>
  updateColumns(tx, pairs, messagesColumns, upload);

async function updateColumns(
  tx: PoolClient,
  pairs: Pair[],
  columns: Column[],
  { userId, sequence, machine }: UploadSource,
): Promise<void> {
  if (pairs.length === 0) return;
  const given = [...columns, lastMessageAt];
  const set = columns.map(({ name }) => `${name} = given.${name}`);
  const started = columns.some(({ name }) => name === "created_at") ? "given.created_at" : "trace.created_at";
  const active = `coalesce(given.last_message_at, ${started})`;
  await tx.query(
    `update trace set ${set.join(", ")}, machine = $3, upload_sequence = $2::bigint, stored_at = now(),
            ledger_due = true, search_pending = true,
            activity_at = least(coalesce(${active}, 'epoch'), now()), dated = ${active} is not null
     from ${unnest(["uuid", ...given.map(({ type }) => type)])} as given (id, ${joinNames(given)})
     where trace.user_id = $1::uuid and trace.id = given.id`,
    [userId, sequence, machine, pairs.map(({ stored }) => stored.id), ...collectValues(given, pairs)],
  );
}

/** Makes the ledger read traces from their start if messages changed before the last. */
export async function recordRewrite(tx: PoolClient, pairs: Pair[], userId: string): Promise<void> {
  if (pairs.length === 0) return;
  await tx.query("update trace set accounted_to = 0 where user_id = $1 and id = any($2) and accounted_to <> 0", [
    userId,
    pairs.map(({ stored }) => stored.id),
  ]);
}
