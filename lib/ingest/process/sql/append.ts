// SQL: one statement for all traces of a batch, in the transaction of COPY, with sums computed from stored ones.
import "server-only";
import type { PoolClient } from "pg";
import { storableJson } from "#lib/core/json";
import type { OwnFields } from "#lib/ingest/decode/content-hash";
import type { TraceHeader } from "#lib/ingest/decode/manifest";
import type { UploadSource } from "#lib/ingest/process/sql/traces";
import { type Beginning, beginningCharacters } from "#lib/transcript/titles/derive-title";

export type StoredFields = OwnFields & {
  id: string;
  derivedTitle: string | null;
  titleRank: number | null;
  lastPosition: number | null;
  now: Date;
};

/** The last position is the end of an index. */
export async function readStoredFields(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
): Promise<Map<string, StoredFields>> {
  if (traceIds.length === 0) return new Map();
  type Row = Omit<StoredFields, "createdAt" | "metadata"> & { createdAt: Date | null; metadata: unknown };
  const { rows } = await tx.query<Row>(
    `select id, model, title, project, created_at as "createdAt", metadata, derived_title as "derivedTitle",
       title_rank as "titleRank", now() as now,
       (select max(position) from message where user_id = $1 and trace_id = trace.id) as "lastPosition"
     from trace where user_id = $1 and id = any($2)`,
    [userId, traceIds],
  );
  return new Map(
    rows.map(({ createdAt, metadata, ...row }) => [
      row.id,
      {
        ...row,
        createdAt: createdAt?.getTime() ?? null,
        metadata: metadata === null ? null : JSON.stringify(storableJson(metadata)),
      },
    ]),
  );
}

/** The header's sums are of the new messages alone. */
export type AppendedRow = OwnFields & {
  id: string;
  derivedTitle: string | null;
  titleRank: number | null;
  contentHash: string;
  header: TraceHeader;
};

const time = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds).toISOString());

/** @param now the time of the transaction */
export async function updateAppended(
  tx: PoolClient,
  rows: AppendedRow[],
  { userId, sequence, machine }: UploadSource,
  now: Date,
): Promise<void> {
  await tx.query(
    `update trace set model = given.model, title = given.title, project = given.project, created_at = given.created_at,
       metadata = given.metadata, derived_title = given.derived_title, title_rank = given.title_rank,
       message_count = trace.message_count + given.messages, token_count = trace.token_count + given.tokens,
       sanitized = trace.sanitized or given.sanitized, content_hash = given.content_hash,
       messages_bytes = case when given.messages = 0 then trace.messages_bytes end,
       messages_hash = case when given.messages = 0 then trace.messages_hash end,
       stored_bytes = least(2147483647, trace.stored_bytes::bigint + given.bytes)::int,
       activity_at = case when given.last_message_at is not null
           then least(greatest(case when trace.dated then trace.activity_at end, given.last_message_at), $4::timestamptz)
         when trace.dated then trace.activity_at
         else least(coalesce(given.created_at, 'epoch'), $4::timestamptz) end,
       dated = trace.dated or given.last_message_at is not null or given.created_at is not null,
       accounted_to = case when not trace.dated and coalesce(given.last_message_at, given.created_at) is not null then 0
         else trace.accounted_to end,
       machine = $3, upload_sequence = $2::bigint, append_sequence = $2::bigint, stored_at = $4::timestamptz,
       ledger_due = true, search_pending = true
     from unnest($5::uuid[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::jsonb[], $11::text[], $12::int2[],
       $13::int[], $14::bigint[], $15::bool[], $16::bytea[], $17::int[], $18::timestamptz[])
       as given (id, model, title, project, created_at, metadata, derived_title, title_rank, messages, tokens, sanitized,
         content_hash, bytes, last_message_at)
     where trace.user_id = $1::uuid and trace.id = given.id`,
    [
      userId,
      sequence,
      machine,
      now,
      rows.map(({ id }) => id),
      rows.map(({ model }) => model),
      rows.map(({ title }) => title),
      rows.map(({ project }) => project),
      rows.map(({ createdAt }) => time(createdAt)),
      rows.map(({ metadata }) => metadata),
      rows.map(({ derivedTitle }) => derivedTitle),
      rows.map(({ titleRank }) => titleRank),
      rows.map(({ header }) => header.messageCount),
      rows.map(({ header }) => header.tokenCount),
      rows.map(({ header }) => header.sanitized),
      rows.map(({ contentHash }) => Buffer.from(contentHash, "base64")),
      rows.map(({ header }) => header.rowBytes),
      rows.map(({ header }) => time(header.lastMessageAt)),
    ],
  );
}

/** Reads beginnings of messages after a position. */
export async function readBeginnings(
  tx: PoolClient,
  userId: string,
  traceId: string,
  after: number,
): Promise<(Beginning & { position: number })[]> {
  const { rows } = await tx.query<Beginning & { position: number }>(
    `select position, role, left(content, case role when 'user' then $4::int else $5::int end) as text, metadata->>'kind' as kind
     from message where user_id = $1 and trace_id = $2 and position > $3 and role in ('user', 'assistant')
     order by position limit 100`,
    [userId, traceId, after, beginningCharacters.user, beginningCharacters.assistant],
  );
  return rows;
}

export async function setTitle(
  tx: PoolClient,
  userId: string,
  traceId: string,
  { title, rank }: { title: string | null; rank: number | null },
): Promise<void> {
  await tx.query("update trace set derived_title = $3, title_rank = $4 where user_id = $1 and id = $2", [
    userId,
    traceId,
    title,
    rank,
  ]);
}
