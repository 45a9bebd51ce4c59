// SQL: rows are locked as in a merge, and read a part at a time.
import "server-only";
import type { PoolClient } from "pg";
import { pool } from "#lib/db/client";
import type { Trace } from "#lib/generated/prisma/client";
import type { StoredMessage } from "#lib/ingest/decode/stored-masking";

export type Tasks = ReadonlyMap<string, Date>;

/** @param except is omitted unless there is a new decision */
export async function readTasks(
  userId: string,
  limit: number,
  except: Tasks,
  exceptTraces: string[],
): Promise<Map<string, Date>> {
  const { rows } = await pool().query<{ traceId: string; createdAt: Date }>(
    `select trace_id as "traceId", created_at as "createdAt" from masking_task
     where user_id = $1 and trace_id <> all($2::uuid[]) and not exists (
       select 1 from unnest($3::uuid[], $4::timestamptz[]) as done (id, at) where done.id = trace_id and created_at <= done.at)
     order by created_at limit $5`,
    [userId, exceptTraces, [...except.keys()], [...except.values()], limit],
  );
  return new Map(rows.map(({ traceId, createdAt }) => [traceId, createdAt]));
}

export async function deleteTasks(userId: string, tasks: Tasks): Promise<void> {
  await pool().query(
    `delete from masking_task using unnest($2::uuid[], $3::timestamptz[]) as done (id, at)
     where user_id = $1 and trace_id = done.id and created_at <= done.at`,
    [userId, [...tasks.keys()], [...tasks.values()]],
  );
}

type Texts = Pick<
  Trace,
  "source" | "sourceId" | "title" | "derivedTitle" | "customTitle" | "note" | "model" | "project" | "machine"
>;

export type MaskableTrace = Texts & { metadata: unknown };

/** @returns undefined for a deleted trace */
export async function lockTrace(tx: PoolClient, userId: string, traceId: string): Promise<MaskableTrace | undefined> {
  const { rows } = await tx.query<MaskableTrace>(
    `select source, source_id as "sourceId", title, derived_title as "derivedTitle", custom_title as "customTitle", note, model,
       project, machine, metadata
     from trace where user_id = $1 and id = $2 and deleted_at is null for update`,
    [userId, traceId],
  );
  return rows[0];
}

/** At least one message is read. */
const page = { rows: 500, bytes: 8 << 20 };

export async function readMessagesAfter(
  tx: PoolClient,
  userId: string,
  traceId: string,
  after: number,
): Promise<StoredMessage[]> {
  const { rows } = await tx.query<StoredMessage>(
    `select position, content, metadata::text as metadata from (
       select position, content, metadata, sum(octet_length(content) + coalesce(pg_column_size(metadata), 0))
         over (order by position) - octet_length(content) - coalesce(pg_column_size(metadata), 0) as before
       from (select position, content, metadata from message where user_id = $1 and trace_id = $2 and position > $3
             order by position limit $4) as next
     ) as sized where before < $5 order by position`,
    [userId, traceId, after, page.rows, page.bytes],
  );
  return rows;
}

/** One by one, 50,000 updates would lock a trace for half a minute. */
export async function writeMessages(
  tx: PoolClient,
  userId: string,
  traceId: string,
  messages: StoredMessage[],
): Promise<void> {
  const [only, ...others] = messages;
  if (!only) return;
  if (others.length === 0) {
    // It may be too long for an element of an array.
    const { position, content, metadata } = only;
    const own = [userId, traceId, position, content, metadata];
    await tx.query(
      "update message set content = $4, metadata = $5 where user_id = $1 and trace_id = $2 and position = $3",
      own,
    );
    return;
  }
  await tx.query(
    `update message set content = masked.content, metadata = masked.metadata
     from unnest($3::int[], $4::text[], $5::jsonb[]) as masked (position, content, metadata)
     where user_id = $1 and trace_id = $2 and message.position = masked.position`,
    [
      userId,
      traceId,
      messages.map(({ position }) => position),
      messages.map(({ content }) => content),
      messages.map(({ metadata }) => metadata),
    ],
  );
}

/** Its new hashes match no upload, so that the next one is compared message by message. */
export async function writeTrace(
  tx: PoolClient,
  userId: string,
  traceId: string,
  texts: MaskableTrace,
  changes: { messages: boolean; fields: boolean; moreBytes: number },
): Promise<void> {
  await tx.query(
    `update trace set title = $3, derived_title = $4, short_title = null, custom_title = $5, note = $6, model = $7, project = $8, metadata = $9,
       content_hash = (case when $11 then decode(md5($12), 'hex') else substring(content_hash for 16) end) || decode(md5($12), 'hex'),
       messages_bytes = case when $10 then null else messages_bytes end,
       messages_hash = case when $10 then null else messages_hash end,
       stored_bytes = greatest(0, stored_bytes + $13), accounted_to = 0, stored_at = $14,
       ledger_due = true, usage_due = true, search_pending = true
     where user_id = $1 and id = $2`,
    [
      ...[userId, traceId, texts.title, texts.derivedTitle, texts.customTitle, texts.note, texts.model, texts.project],
      ...[texts.metadata === null ? null : JSON.stringify(texts.metadata), changes.messages, changes.fields],
      ...[`masked ${Date.now()}`, changes.moreBytes, new Date()],
    ],
  );
}

export type KeptUpload = { jobId: string; status: string; bytes: number; isInStore: boolean; manifest: Buffer | null };

export async function readKeptUploads(tx: PoolClient, userId: string, after: string): Promise<KeptUpload[]> {
  const { rows } = await tx.query<KeptUpload>(
    `select job.id as "jobId", status, bytes, held.object is not null as "isInStore", own.manifest from ingest_job job
     join upload own on own.user_id = $1 and own.job_id = job.id
     join upload held on held.user_id = $1 and held.job_id = coalesce(own.held_by, own.job_id)
     where job.user_id = $1 and job.id > $2 and own.removed_at is null and status in ('succeeded', 'failed')
     order by job.id limit 50`,
    [userId, after],
  );
  return rows;
}

/** Skips uploads that are being replayed. */
export async function endUploads(tx: PoolClient, userId: string, jobIds: string[]): Promise<void> {
  if (jobIds.length === 0) return;
  const { rows } = await tx.query<{ id: string }>(
    "select id from ingest_job where user_id = $1 and id = any($2) and status = 'succeeded' for update",
    [userId, jobIds],
  );
  await tx.query(
    "update upload set removed_at = $3, manifest = null where user_id = $1 and job_id = any($2) and removed_at is null",
    [userId, rows.map(({ id }) => id), new Date()],
  );
}

export async function replaceBody(
  tx: PoolClient,
  userId: string,
  jobId: string,
  { body, manifest }: { body: Uint8Array | undefined; manifest: Uint8Array },
): Promise<void> {
  const { rows } = await tx.query<{ object: string | null }>(
    "select object from upload where user_id = $1 and job_id = $2 for update",
    [userId, jobId],
  );
  await tx.query("update upload set manifest = $3 where user_id = $1 and job_id = $2", [
    userId,
    jobId,
    Buffer.from(manifest),
  ]);
  if (!body) return;
  await tx.query(
    `update upload set body = $3, held_by = null, object = null, object_bytes = null, masked = true
     where user_id = $1 and job_id = $2`,
    [userId, jobId, Buffer.from(body)],
  );
  const [{ object } = { object: null }] = rows;
  if (object) await tx.query("insert into object_removal (key) values ($1) on conflict do nothing", [object]);
}

export async function deleteManifest(userId: string, jobId: string): Promise<void> {
  await pool().query("update upload set manifest = null where user_id = $1 and job_id = $2", [userId, jobId]);
}
