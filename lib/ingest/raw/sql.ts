// SQL: Prisma decodes a whole value on the event loop, and takes no locks.
import "server-only";
import { escapeLiteral, type PoolClient } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { copyHeader } from "#lib/core/copy-format";
import { pool, transaction } from "#lib/db/client";

type OwnBytes = Uint8Array<ArrayBuffer>;

const headerBytes = copyHeader.length + 2;

/** COPY takes no parameters, and the nodes of a distributed database don't know settings of the session. */
const selectForCopy = (
  column: "body" | "manifest",
  userId: string,
  jobId: string,
) => `copy (select ${column} from upload
  where user_id = ${escapeLiteral(userId)} and job_id = ${escapeLiteral(jobId)}) to stdout (format binary)`;

/** Selects from the kept upload `$2` of user `$1`, and from the one that has its body, `held`. */
const selectStored = (columns: string) => `select ${columns} from upload own
  join upload held on held.user_id = $1 and held.job_id = coalesce(own.held_by, own.job_id)
  where own.user_id = $1 and own.job_id = $2 and own.removed_at is null`;

/** `pg` has no binary results. @returns null if the column is NULL, undefined without an upload */
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

/** @returns null if it is NULL, undefined without a row */
async function readField(copied: AsyncIterable<Buffer>): Promise<OwnBytes | null | undefined> {
  let head = Buffer.alloc(0);
  let field: OwnBytes | undefined;
  let at = 0;
  for await (const chunk of copied) {
    let rest = chunk;
    if (!field) {
      head = Buffer.concat([head, chunk]);
      // Without a row the trailer follows, which is shorter than a field's length.
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

/** An object of the store; null in the database. */
export type BodyPlace = { object: string | null; bytes: number | null };

/** COPY takes four round trips for each value. */
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

export async function selectPlace(userId: string, jobId: string): Promise<BodyPlace | undefined> {
  const { rows } = await pool().query<BodyPlace>(selectStored("held.object, held.object_bytes as bytes"), [
    userId,
    jobId,
  ]);
  return rows[0];
}

/** SQL: Prisma has no list of pairs. */
export async function findKnownObjects(uploads: { userId: string; jobId: string }[]): Promise<Set<string>> {
  const { rows } = await pool().query<{ object: string }>(
    `select object from unnest($1::uuid[], $2::uuid[]) as given (user_id, job_id) join upload using (user_id, job_id)
     where object is not null`,
    [uploads.map(({ userId }) => userId), uploads.map(({ jobId }) => jobId)],
  );
  return new Set(rows.map(({ object }) => object));
}

/** STORAGE EXTERNAL makes a slice cost only its size. */
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
 * Skips uploads that are being replayed.
 *
 * @param note is added to the jobs' errors
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

/** @throws a foreign key violation if another upload is about to share a body; the next call deletes it then */
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

const bodyKeys = {
  upload: { key: "job_id", type: "uuid", none: "00000000-0000-0000-0000-000000000000" },
  picture: { key: "sha256", type: "bytea", none: "\\x" },
} as const;
export type BodyTable = keyof typeof bodyKeys;
export const bodyTables = Object.keys(bodyKeys) as BodyTable[];

export type BodyName = { table: BodyTable; userId: string; name: string };

export type BodyHead = BodyPlace & BodyName & { head: Uint8Array | null };

/** SQL: a part of a value. */
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

export async function lockBody(tx: PoolClient, { table, userId, name }: BodyName): Promise<Buffer | null | undefined> {
  const { rows } = await tx.query<{ body: Buffer | null }>(
    `select body from ${table} where ${isNamed(table)} for update`,
    [userId, name],
  );
  return rows[0]?.body;
}

/** SQL: in the transaction of its lock. */
export async function writeBody(tx: PoolClient, { table, userId, name }: BodyName, body: Uint8Array): Promise<void> {
  await tx.query(`update ${table} set body = $3 where ${isNamed(table)}`, [userId, name, Buffer.from(body)]);
}

export async function readObjectName({ table, userId, name }: BodyName): Promise<string | null | undefined> {
  const { rows } = await pool().query<{ object: string | null }>(
    `select object from ${table} where ${isNamed(table)}`,
    [userId, name],
  );
  return rows[0]?.object;
}
