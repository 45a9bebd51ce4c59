// Reading stored bytes. It is SQL because Prisma returns a whole value decoded on the event loop, while these are read by
// COPY or in slices. And deleting those of failed jobs, whose rows Prisma can't lock against a replay.
import "server-only";
import { escapeLiteral, type PoolClient } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { copyHeader } from "#lib/copy-format";
import { pool, transaction } from "#lib/db/client";

type OwnBytes = Uint8Array<ArrayBuffer>;

/** What precedes the value in a binary COPY of one row with one column: the header, and the number of columns. */
const headerBytes = copyHeader.length + 2;

/** COPY takes no parameters, and the nodes of a distributed database don't know settings of the session: the ids are quoted. */
const selectForCopy = (
  column: "body" | "manifest",
  userId: string,
  jobId: string,
) => `copy (select ${column} from upload
  where user_id = ${escapeLiteral(userId)} and job_id = ${escapeLiteral(jobId)}) to stdout (format binary)`;

/** Selects of upload `$2` of user `$1` that is kept, `own`, and of the one that holds its body, `held`. */
const selectStored = (columns: string) => `select ${columns} from upload own
  join upload held on held.user_id = $1 and held.job_id = coalesce(own.held_by, own.job_id)
  where own.user_id = $1 and own.job_id = $2 and own.removed_at is null`;

/**
 * The stored bytes of an upload, by COPY: `pg` has no binary results, and as text they would be twice as many and have to
 * be decoded on the event loop.
 *
 * @returns null if the column is NULL, undefined if there is no such upload.
 */
export function copyUpload(
  userId: string,
  jobId: string,
  column: "body" | "manifest",
): Promise<OwnBytes | null | undefined> {
  return transaction(async (tx) => {
    const { rows } = await tx.query<{ holder: string }>(selectStored("held.job_id as holder"), [userId, jobId]);
    const [stored] = rows;
    if (!stored) return undefined;
    const from = column === "body" ? stored.holder : jobId;
    return readField(tx.query(copyTo(selectForCopy(column, userId, from))));
  });
}

/** The one value in a binary COPY, in separate memory. @returns null where it is NULL, undefined without a row */
async function readField(copied: AsyncIterable<Buffer>): Promise<OwnBytes | null | undefined> {
  let head = Buffer.alloc(0);
  let field: OwnBytes | undefined;
  let at = 0;
  for await (const chunk of copied) {
    let rest = chunk;
    if (!field) {
      head = Buffer.concat([head, chunk]);
      // Without a row the trailer follows the header, which is shorter than a field's length.
      if (head.length < headerBytes + 4) continue;
      field = new Uint8Array(Math.max(0, head.readInt32BE(headerBytes)));
      rest = head.subarray(headerBytes + 4);
    }
    const part = rest.subarray(0, field.length - at);
    field.set(part, at);
    at += part.length;
  }
  return field && head.readInt32BE(headerBytes) < 0 ? null : field;
}

/** Where the store has a body; null for one that is in the database. */
export type BodyPlace = { object: string | null; bytes: number | null };

/** Body and manifest of a small upload, in one query: COPY takes four round trips for each of them. */
export async function selectSmallUpload(
  userId: string,
  jobId: string,
): Promise<(BodyPlace & { body: OwnBytes | null; manifest: OwnBytes | null }) | undefined> {
  const { rows } = await pool().query<BodyPlace & { body: OwnBytes | null; manifest: OwnBytes | null }>(
    selectStored("held.body, own.manifest, held.object, held.object_bytes as bytes"),
    [userId, jobId],
  );
  return rows[0];
}

/** Where the body of an upload is. @returns undefined if there is no such upload */
export async function selectPlace(userId: string, jobId: string): Promise<BodyPlace | undefined> {
  const { rows } = await pool().query<BodyPlace>(selectStored("held.object, held.object_bytes as bytes"), [
    userId,
    jobId,
  ]);
  return rows[0];
}

/** The objects of those of the uploads that exist. SQL: Prisma has no list of pairs. */
export async function findKnownObjects(uploads: { userId: string; jobId: string }[]): Promise<Set<string>> {
  const { rows } = await pool().query<{ object: string }>(
    `select object from unnest($1::uuid[], $2::uuid[]) as given (user_id, job_id) join upload using (user_id, job_id)
     where object is not null`,
    [uploads.map(({ userId }) => userId), uploads.map(({ jobId }) => jobId)],
  );
  return new Set(rows.map(({ object }) => object));
}

/**
 * Part of a stored body. PostgreSQL keeps it uncompressed (STORAGE EXTERNAL), so that a slice costs what it has.
 *
 * @param from the first byte's number, from 1.
 * @returns undefined if there is no such upload.
 */
export async function selectBodySlice(
  userId: string,
  jobId: string,
  from: number,
  bytes: number,
): Promise<Buffer | undefined> {
  const { rows } = await pool().query<{ slice: Buffer }>(selectStored("substring(held.body from $3 for $4) as slice"), [
    userId,
    jobId,
    from,
    bytes,
  ]);
  return rows[0]?.slice;
}

/**
 * Ends the uploads of those of a user's jobs that are still failed, and has the jobs say so. One that is replayed at this
 * moment is left alone.
 *
 * @param note a sentence that tells why, for the jobs' errors.
 * @returns how many
 */
export function removeFailedUploads(userId: string, jobIds: string[], note: string): Promise<number> {
  return transaction(async (tx) => {
    const { rows: failed } = await tx.query<{ id: string }>(
      "select id from ingest_job where user_id = $1 and id = any($2) and status = 'failed' for update skip locked",
      [userId, jobIds],
    );
    const { rows: gone } = await tx.query<{ id: string }>(
      `update upload set removed_at = now(), manifest = null
       where user_id = $1 and job_id = any($2) and removed_at is null returning job_id as id`,
      [userId, failed.map(({ id }) => id)],
    );
    const { rowCount } = await tx.query(
      "update ingest_job set error_message = coalesce(error_message, '') || $3 where user_id = $1 and id = any($2)",
      [userId, gone.map(({ id }) => id), ` ${note}`],
    );
    return rowCount ?? 0;
  });
}

/**
 * Deletes a user's uploads whose time is over, but for those whose body others need. @throws a violation of the foreign key
 * where another upload is just about to share a body: the next call deletes what then may go.
 */
export async function deleteRemoved(userId: string): Promise<void> {
  await transaction(async (tx) => {
    const { rows } = await tx.query<{ object: string | null }>(
      `delete from upload gone where user_id = $1 and removed_at is not null and (held_by is not null or not exists (
         select 1 from upload sharer where sharer.user_id = $1 and sharer.held_by = gone.job_id
           and sharer.removed_at is null)) returning object`,
      [userId],
    );
    const keys = rows.flatMap(({ object }) => object ?? []);
    if (keys.length > 0) await tx.query("insert into object_removal (key) select unnest($1::text[])", [keys]);
  });
}

/** The tables with bodies, and what names one of a user's there. */
const bodyKeys = {
  upload: { key: "job_id", type: "uuid", none: "00000000-0000-0000-0000-000000000000" },
  picture: { key: "sha256", type: "bytea", none: "\\x" },
} as const;
export type BodyTable = keyof typeof bodyKeys;
export const bodyTables = Object.keys(bodyKeys) as BodyTable[];

/** Names a body. */
export type BodyName = { table: BodyTable; userId: string; name: string };

/** A kept body: where it is, and in the database its first bytes. */
export type BodyHead = BodyPlace & BodyName & { head: Uint8Array | null };

/** Some of all users' kept bodies, in the order of their keys, after one. SQL: a part of a value. */
export async function readBodyHeads(table: BodyTable, after: BodyName | undefined): Promise<BodyHead[]> {
  const { key, type, none } = bodyKeys[table];
  const { rows } = await pool().query<BodyHead>(
    `select $3::text as "table", user_id as "userId", ${key}::text as name, object, object_bytes as bytes,
       substring(body for 32) as head from ${table}
     where (body is not null or object is not null) and (user_id, ${key}) > ($1::uuid, $2::${type})
     order by user_id, ${key} limit 100`,
    [after?.userId ?? bodyKeys.upload.none, after?.name ?? none, table],
  );
  return rows;
}

const isNamed = (table: BodyTable) => `user_id = $1 and ${bodyKeys[table].key} = $2::${bodyKeys[table].type}`;

/** A body, with its row locked. SQL: Prisma takes no locks. */
export async function lockBody(tx: PoolClient, { table, userId, name }: BodyName): Promise<Buffer | null | undefined> {
  const { rows } = await tx.query<{ body: Buffer | null }>(
    `select body from ${table} where ${isNamed(table)} for update`,
    [userId, name],
  );
  return rows[0]?.body;
}

/** Writes a body. SQL: in the transaction of its lock. */
export async function writeBody(tx: PoolClient, { table, userId, name }: BodyName, body: Uint8Array): Promise<void> {
  await tx.query(`update ${table} set body = $3 where ${isNamed(table)}`, [userId, name, Buffer.from(body)]);
}

/** The object that has a body; undefined where there is none. SQL: of two tables. */
export async function readObjectName({ table, userId, name }: BodyName): Promise<string | null | undefined> {
  const { rows } = await pool().query<{ object: string | null }>(
    `select object from ${table} where ${isNamed(table)}`,
    [userId, name],
  );
  return rows[0]?.object;
}
