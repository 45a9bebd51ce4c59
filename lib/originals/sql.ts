// These statements run in transactions of `pg` (a request) or of Prisma (a deletion). SQL: sets of rows, advisory locks, and
// the database's clock.
import "server-only";
import { limits } from "#lib/core/limits";
import { pool, type Queryable, snapshot, transaction } from "#lib/db/client";
import { decodeHashes } from "#lib/db/sql/bodies";
import { lockOriginals, run, type Transaction } from "#lib/db/sql/run";

/** Keeps a stored part for a day. @returns whether it is stored */
export async function touchPart(userId: string, sha256: string): Promise<boolean> {
  const { rowCount } = await pool().query(
    "update original_part set unused_since = now() where user_id = $1 and sha256 = $2",
    [userId, Buffer.from(sha256, "hex")],
  );
  return rowCount === 1;
}

export type NewPart = { sha256: string; bytes: number } & ({ body: Buffer } | { object: string });

/** @returns false if it is already stored */
export async function insertPart(tx: Queryable, userId: string, part: NewPart): Promise<boolean> {
  const [body, object] = "body" in part ? [part.body, null] : [null, part.object];
  const { rowCount } = await tx.query(
    `insert into original_part (user_id, sha256, bytes, body, object) values ($1, $2, $3, $4, $5)
     on conflict (user_id, sha256) do nothing`,
    [userId, Buffer.from(part.sha256, "hex"), part.bytes, body, object],
  );
  return rowCount === 1;
}

export type OriginalKey = { source: string; sourceId: string };

export type NewOriginal = OriginalKey & {
  recipient: string;
  files: number;
  plainBytes: number;
  head: Buffer;
  parts: string[];
  machine: string;
};

export type Written = { version: number; isNew: boolean } | "deleted" | "changed" | { missing: string[] };

/**
 * Stores a copy in place of the one that the client has seen.
 *
 * @param seen the version that it replaces; undefined for none
 */
export async function writeOriginal(
  tx: Queryable,
  userId: string,
  original: NewOriginal,
  seen: number | undefined,
): Promise<Written> {
  await lockOriginals(tx, userId);
  const key = [userId, original.source, original.sourceId];
  if (await isTombstone(tx, key)) return "deleted";
  const before = await readVersion(tx, key);
  if (before !== seen) return "changed";
  const hashes = decodeHashes(original.parts);
  const stored = await readSizes(tx, userId, hashes);
  const missing = [...new Set(original.parts)].filter((hash) => !stored.has(hash));
  if (missing.length > 0) return { missing: missing.slice(0, limits.originals.missingTold) };
  if (before !== undefined) await letGo(tx, key, hashes);
  await refer(tx, key, hashes);
  // Derived from the clock, so that a copy that was deleted and recreated has a new version.
  const version = Math.max((before ?? 0) + 1, Date.now());
  const bytes = original.parts.reduce((sum, hash) => sum + (stored.get(hash) ?? 0), original.head.length);
  const { recipient, files, plainBytes, head, parts, machine } = original;
  await tx.query(
    `insert into original (user_id, source, source_id, version, recipient, files, parts, plain_bytes, stored_bytes, head, machine)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (user_id, source, source_id) do update set version = excluded.version, recipient = excluded.recipient,
       files = excluded.files, parts = excluded.parts, plain_bytes = excluded.plain_bytes,
       stored_bytes = excluded.stored_bytes, head = excluded.head, machine = excluded.machine,
       updated_at = excluded.updated_at`,
    [...key, version, recipient, files, parts.length, plainBytes, bytes, head, machine],
  );
  return { version, isNew: before === undefined };
}

async function isTombstone(tx: Queryable, key: string[]): Promise<boolean> {
  const { rows } = await tx.query<{ isDeleted: boolean }>(
    `select deleted_at is not null as "isDeleted" from trace where user_id = $1 and source = $2 and source_id = $3`,
    key,
  );
  return rows[0]?.isDeleted ?? false;
}

async function readVersion(tx: Queryable, key: string[]): Promise<number | undefined> {
  const { rows } = await tx.query<{ version: string }>(
    "select version from original where user_id = $1 and source = $2 and source_id = $3",
    key,
  );
  return rows[0] && Number(rows[0].version);
}

async function readSizes(tx: Queryable, userId: string, hashes: Buffer[]): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ hash: string; bytes: number }>(
    "select encode(sha256, 'hex') as hash, bytes from original_part where user_id = $1 and sha256 = any($2)",
    [userId, hashes],
  );
  return new Map(rows.map(({ hash, bytes }) => [hash, bytes]));
}

/** A reader of the previous version has a day to fetch its parts. */
async function letGo(tx: Queryable, key: string[], kept: Buffer[]): Promise<void> {
  await tx.query(
    `update original_part set unused_since = now() where user_id = $1 and unused_since is null and not sha256 = any($4)
       and sha256 in (select own.sha256 from original_use own
         where own.user_id = $1 and own.source = $2 and own.source_id = $3)
       and not exists (select 1 from original_use other where other.user_id = $1 and other.sha256 = original_part.sha256
         and not (other.source = $2 and other.source_id = $3))`,
    [...key, kept],
  );
  await tx.query(
    `delete from original_use where user_id = $1 and source = $2 and source_id = $3 and not exists (
       select 1 from unnest($4::bytea[]) with ordinality as given (sha256, place)
       where given.place = original_use.position + 1 and given.sha256 = original_use.sha256)`,
    [...key, kept],
  );
}

async function refer(tx: Queryable, key: string[], hashes: Buffer[]): Promise<void> {
  await tx.query(
    `insert into original_use (user_id, source, source_id, position, sha256)
     select $1::uuid, $2, $3, place - 1, sha256 from unnest($4::bytea[]) with ordinality as given (sha256, place)
     on conflict do nothing`,
    [...key, hashes],
  );
  await tx.query(
    `update original_part set unused_since = null where user_id = $1 and sha256 = any($2) and unused_since is not null`,
    [key[0], hashes],
  );
}

/** lib/originals/deletion.ts deletes the parts. @returns how many there were */
export async function deleteOriginals(tx: Transaction, userId: string, keys: OriginalKey[]): Promise<number> {
  await lockOriginals(tx, userId);
  return deleteLocked(tx, userId, keys);
}

export async function deleteOriginalsByTrace(tx: Transaction, userId: string, traceIds: string[]): Promise<void> {
  await lockOriginals(tx, userId);
  const keys = await run<OriginalKey>(
    tx,
    `select original.source, original.source_id as "sourceId" from original
     join trace on trace.user_id = $1::uuid and trace.source = original.source and trace.source_id = original.source_id
     where original.user_id = $1::uuid and trace.id = any($2::uuid[])`,
    [userId, traceIds],
  );
  if (keys.length > 0) await deleteLocked(tx, userId, keys);
}

async function deleteLocked(tx: Transaction, userId: string, keys: OriginalKey[]): Promise<number> {
  const given = [userId, keys.map(({ source }) => source), keys.map(({ sourceId }) => sourceId)];
  const isGone = (table: string) => `exists (select 1 from unnest($2::text[], $3::text[]) as gone (source, source_id)
       where gone.source = ${table}.source and gone.source_id = ${table}.source_id)`;
  await run(
    tx,
    `update original_part set unused_since = 'epoch' where user_id = $1::uuid and unused_since is null
       and sha256 in (select own.sha256 from original_use own where own.user_id = $1::uuid and ${isGone("own")})
       and not exists (select 1 from original_use other where other.user_id = $1::uuid
         and other.sha256 = original_part.sha256 and not ${isGone("other")})`,
    given,
  );
  await run(tx, `delete from original_use where user_id = $1::uuid and ${isGone("original_use")}`, given);
  const gone = await run(
    tx,
    `with gone as (delete from original where user_id = $1::uuid and ${isGone("original")} returning source)
     select source from gone`,
    given,
  );
  return gone.length;
}

/** An older release's process deletes traces but leaves their copies. */
export async function deleteLeftOriginals(): Promise<void> {
  const { rows } = await pool().query<{ userId: string }>(`select distinct user_id as "userId" from original`);
  for (const { userId } of rows) {
    await transaction(async (tx) => {
      const { rows: keys } = await tx.query<OriginalKey>(
        `select original.source, original.source_id as "sourceId" from original
         join trace on trace.user_id = $1 and trace.source = original.source and trace.source_id = original.source_id
         where original.user_id = $1 and trace.deleted_at is not null limit 1000`,
        [userId],
      );
      if (keys.length > 0) await deleteOriginals(tx, userId, keys);
    });
  }
}

/** The order varies, since a user's parts may have to wait for a lock. */
export async function findUsersToPurge(limit: number): Promise<string[]> {
  const { rows } = await pool().query<{ userId: string }>(
    `select user_id as "userId" from original_part where unused_since < now() - make_interval(hours => $2)
     group by user_id order by random() limit $1`,
    [limit, limits.originals.unusedHours],
  );
  return rows.map(({ userId }) => userId);
}

/**
 * Deletes parts that no copy refers to.
 *
 * @returns the number of parts examined
 */
export function purgeSome(userId: string, limit: number): Promise<number> {
  return transaction(async (tx) => {
    await lockOriginals(tx, userId);
    const { rows } = await tx.query<{ hash: string }>(
      `select encode(sha256, 'hex') as hash from original_part
       where user_id = $1 and unused_since < now() - make_interval(hours => $3) limit $2`,
      [userId, limit, limits.originals.unusedHours],
    );
    const found = [userId, decodeHashes(rows.map(({ hash }) => hash)), limits.originals.unusedHours];
    // A part that is sent again meanwhile is kept.
    const isOld = "user_id = $1 and sha256 = any($2) and unused_since < now() - make_interval(hours => $3)";
    const { rows: gone } = await tx.query<{ object: string | null }>(
      `delete from original_part where ${isOld} and not exists (select 1 from original_use used
         where used.user_id = $1 and used.sha256 = original_part.sha256) returning object`,
      found,
    );
    await tx.query(`update original_part set unused_since = null where ${isOld}`, found);
    const keys = gone.flatMap(({ object }) => object ?? []);
    if (keys.length > 0) await tx.query("insert into object_removal (key) select unnest($1::text[])", [keys]);
    return rows.length;
  });
}

export type OriginalRow = OriginalKey & {
  version: string;
  recipient: string;
  files: number;
  plainBytes: string;
  storedBytes: string;
  machine: string;
  updatedAt: Date;
};

const columns = `original.source, original.source_id as "sourceId", original.version, original.recipient, original.files,
  original.plain_bytes as "plainBytes", original.stored_bytes as "storedBytes", original.machine,
  original.updated_at as "updatedAt"`;

export type WholeRow = OriginalRow & { head: Buffer; parts: { sha256: string; bytes: number }[] };

/** Reads a consistent version. */
export function readOriginal(userId: string, { source, sourceId }: OriginalKey): Promise<WholeRow | undefined> {
  const key = [userId, source, sourceId];
  return snapshot(async (tx) => {
    const { rows } = await tx.query<OriginalRow & { head: Buffer }>(
      `select ${columns}, head from original where user_id = $1 and source = $2 and source_id = $3`,
      key,
    );
    if (!rows[0]) return undefined;
    const { rows: parts } = await tx.query<{ sha256: string; bytes: number }>(
      `select encode(used.sha256, 'hex') as sha256, bytes from original_use used
       join original_part part on part.user_id = $1 and part.sha256 = used.sha256
       where used.user_id = $1 and used.source = $2 and used.source_id = $3 order by position`,
      key,
    );
    return { ...rows[0], parts };
  });
}

export type ListedRow = OriginalRow & { title: string | null; project: string | null };

export type ListPlace = OriginalKey & { updatedAt: string };

type Page = { source?: string | undefined; sourceId?: string | undefined; after: ListPlace | undefined; limit: number };

export async function readOriginals(userId: string, { source, sourceId, after, limit }: Page): Promise<ListedRow[]> {
  const values: unknown[] = [userId, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    ...(source === undefined ? [] : [`original.source = ${bind(source)}`]),
    ...(sourceId === undefined ? [] : [`original.source_id = ${bind(sourceId)}`]),
  ];
  if (after) {
    const at = bind(after.updatedAt);
    const place = `(${bind(after.source)}, ${bind(after.sourceId)})`;
    conditions.push(`original.updated_at <= ${at}`);
    conditions.push(`(original.updated_at < ${at} or (original.source, original.source_id) > ${place})`);
  }
  const { rows } = await pool().query<ListedRow>(
    `select ${columns}, coalesce(trace.custom_title, trace.title, trace.derived_title) as title, trace.project
     from original left join trace on trace.user_id = $1 and trace.source = original.source
       and trace.source_id = original.source_id and trace.deleted_at is null
     where ${["original.user_id = $1", ...conditions].join(" and ")}
     order by original.updated_at desc, original.source, original.source_id limit $2`,
    values,
  );
  return rows;
}

export async function readKeys(
  userId: string,
  { source, sourceId }: OriginalKey = { source: "", sourceId: "" },
): Promise<OriginalKey[]> {
  const { rows } = await pool().query<OriginalKey>(
    `select source, source_id as "sourceId" from original where user_id = $1 and (source, source_id) > ($2, $3)
     order by source, source_id limit 100`,
    [userId, source, sourceId],
  );
  return rows;
}
