// These statements run in transactions of `pg` (a job) or of Prisma (a deletion). SQL: sets of rows, row locks.
import "server-only";
import { limits } from "#lib/core/limits";
import { pool, type Queryable, transaction } from "#lib/db/client";
import { decodeHashes } from "#lib/db/sql/bodies";
import { run, type Transaction } from "#lib/db/sql/run";

/**
 * Reserves pictures that a client is about to refer to.
 * @returns the stored hashes, locked in order to prevent deadlocks
 */
export async function wantPictures(userId: string, hashes: string[], tx: Queryable = pool()): Promise<Set<string>> {
  const { rows } = await tx.query<{ hash: string }>(
    `with held as materialized (
       select sha256 from picture where user_id = $1 and sha256 = any($2) order by sha256 for no key update)
     update picture set wanted_at = now() from held where picture.user_id = $1 and picture.sha256 = held.sha256
     returning encode(picture.sha256, 'hex') as hash`,
    [userId, decodeHashes(hashes)],
  );
  return new Set(rows.map(({ hash }) => hash));
}

export type NewPicture = { sha256: string; mediaType: string; bytes: number } & (
  | { body: Uint8Array<ArrayBuffer> }
  | { object: string; objectBytes: number }
);

export async function insertPicture(tx: Queryable, userId: string, picture: NewPicture): Promise<boolean> {
  const { sha256, mediaType, bytes } = picture;
  const [body, object, objectBytes] =
    "body" in picture ? [Buffer.from(picture.body.buffer), null, null] : [null, picture.object, picture.objectBytes];
  const { rowCount } = await tx.query(
    `insert into picture (user_id, sha256, media_type, bytes, body, object, object_bytes)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (user_id, sha256) do nothing`,
    [userId, Buffer.from(sha256, "hex"), mediaType, bytes, body, object, objectBytes],
  );
  return rowCount === 1;
}

/** All pictures of a trace where `isWhole`, otherwise those of its new messages. */
export type TraceLinks = { traceId: string; isWhole: boolean; pictures: { position: number; sha256: string }[] };

/** @param sequence of the upload that contained the traces */
export async function linkPictures(
  tx: Queryable,
  { userId, sequence }: { userId: string; sequence: string },
  traces: TraceLinks[],
): Promise<void> {
  const replaced = traces.filter(({ isWhole }) => isWhole).map(({ traceId }) => traceId);
  const former = replaced.length === 0 ? [] : await deleteLinks(tx, userId, replaced);
  const links = traces.flatMap(({ traceId, pictures }) => pictures.map((one, place) => ({ traceId, place, ...one })));
  if (links.length > 0) {
    const hashes = decodeHashes(links.map(({ sha256 }) => sha256));
    await tx.query(
      `with stored as materialized (
         select trace_id, count(*) as kept from trace_picture where user_id = $1 and trace_id = any($2::uuid[]) group by trace_id)
       insert into trace_picture (user_id, trace_id, position, sha256)
       select $1::uuid, found.trace_id, position, sha256
       from unnest($2::uuid[], $3::int[], $4::bytea[], $5::int[]) as found (trace_id, position, sha256, place)
       left join stored on stored.trace_id = found.trace_id
       where place + coalesce(kept, 0) < ${limits.pictures.perTrace} on conflict do nothing`,
      [
        userId,
        links.map(({ traceId }) => traceId),
        links.map(({ position }) => position),
        hashes,
        links.map(({ place }) => place),
      ],
    );
    await tx.query(
      `with held as materialized (
         select sha256 from picture where user_id = $1 and sha256 = any($2) and wanted_at is not null
         order by sha256 for no key update)
       update picture set wanted_at = null from held where picture.user_id = $1 and picture.sha256 = held.sha256`,
      [userId, hashes],
    );
  }
  await release(tx, userId, former, sequence);
}

/** `purgePictures` deletes pictures without references. */
export async function unlinkPictures(tx: Transaction, userId: string, traceIds: string[]): Promise<void> {
  await release(tx, userId, await deleteLinks(tx, userId, traceIds));
}

/** An older release's process deletes traces but leaves their references. */
export async function unlinkDeleted(): Promise<void> {
  const { rows } = await pool().query<{ userId: string }>(`select distinct user_id as "userId" from trace_picture`);
  for (const { userId } of rows) {
    await transaction(async (tx) => {
      const deleted = await run<{ id: string }>(
        tx,
        `select distinct trace.id from trace_picture link join trace on trace.user_id = $1 and trace.id = link.trace_id
         where link.user_id = $1 and trace.deleted_at is not null limit 1000`,
        [userId],
      );
      await unlinkPictures(
        tx,
        userId,
        deleted.map(({ id }) => id),
      );
    });
  }
}

async function deleteLinks(tx: Transaction, userId: string, traceIds: string[]): Promise<Buffer[]> {
  const rows = await run<{ hash: string }>(
    tx,
    `with gone as (
       delete from trace_picture where user_id = $1::uuid and trace_id = any($2::uuid[]) returning sha256)
     select distinct encode(sha256, 'hex') as hash from gone`,
    [userId, traceIds],
  );
  return decodeHashes(rows.map(({ hash }) => hash));
}

/** Open uploads of the user `$1` may refer to any of the user's pictures. */
const openUpload = `select 1 from ingest_job job join upload on upload.user_id = $1::uuid and upload.job_id = job.id
  where job.user_id = $1::uuid and job.status <> 'succeeded' and upload.removed_at is null`;

/**
 * Marks pictures without references; they are kept for a day and while an upload is open.
 * @param sequence of the upload that is being processed, which does not count
 */
async function release(tx: Transaction, userId: string, hashes: Buffer[], sequence = "0"): Promise<void> {
  if (hashes.length === 0) return;
  const open = await run(tx, `${openUpload} and job.sequence <> $2::bigint limit 1`, [userId, sequence]);
  await run(
    tx,
    `with held as materialized (
       select sha256 from picture where user_id = $1::uuid and sha256 = any($2::bytea[]) and wanted_at is null
         and not exists (
           select 1 from trace_picture link where link.user_id = $1::uuid and link.sha256 = picture.sha256)
       order by sha256 for no key update)
     update picture set wanted_at = ${open.length > 0 ? "now()" : "'epoch'"}
     from held where picture.user_id = $1::uuid and picture.sha256 = held.sha256`,
    [userId, hashes],
  );
}

/** The order varies, since one user's pictures may have to wait. */
async function findUsersToPurge(limit: number): Promise<string[]> {
  const { rows } = await pool().query<{ userId: string }>(
    `select user_id as "userId" from picture where wanted_at < now() - make_interval(hours => $2)
     group by user_id order by random() limit $1`,
    [limit, limits.pictures.unusedHours],
  );
  return rows.map(({ userId }) => userId);
}

/**
 * Deletes unreferenced pictures. They are locked first, so that the second statement sees every committed reference.
 * @returns the number of pictures examined
 */
function purgeSome(userId: string, limit: number): Promise<number> {
  return transaction(async (tx) => {
    const { rows } = await tx.query<{ hash: string }>(
      `select encode(sha256, 'hex') as hash from picture
       where user_id = $1 and wanted_at < now() - make_interval(hours => $3) and (wanted_at = 'epoch' or not exists (${openUpload}))
       limit $2 for update skip locked`,
      [userId, limit, limits.pictures.unusedHours],
    );
    const hashes = decodeHashes(rows.map(({ hash }) => hash));
    const isUsed = `exists (select 1 from trace_picture link where link.user_id = $1 and link.sha256 = picture.sha256)`;
    const { rows: gone } = await tx.query<{ object: string | null }>(
      `delete from picture where user_id = $1 and sha256 = any($2) and not ${isUsed} returning object`,
      [userId, hashes],
    );
    await tx.query("update picture set wanted_at = null where user_id = $1 and sha256 = any($2)", [userId, hashes]);
    const keys = gone.flatMap(({ object }) => object ?? []);
    if (keys.length > 0) await tx.query("insert into object_removal (key) select unnest($1::text[])", [keys]);
    return hashes.length;
  });
}

/** `object` is null if the bytes are in the database. */
export type StoredPicture = { mediaType: string; object: string | null; stored: number };

/** Both positions are included; null means no limit. */
type Span = { from: number | null; to: number | null };

export async function findPicture(
  userId: string,
  traceId: string,
  sha256: string,
  { from, to }: Span,
): Promise<StoredPicture | undefined> {
  const { rows } = await pool().query<StoredPicture>(
    `select media_type as "mediaType", object, coalesce(object_bytes, octet_length(body)) as stored from picture
     where user_id = $1 and sha256 = $3
       and exists (select 1 from trace_picture link where link.user_id = $1 and link.trace_id = $2 and link.sha256 = $3
         and position between coalesce($4, 0) and coalesce($5, ${limits.message.integer}))
       and exists (select 1 from trace where trace.user_id = $1 and trace.id = $2 and deleted_at is null)`,
    [userId, traceId, Buffer.from(sha256, "hex"), from, to],
  );
  return rows[0];
}

export async function findStored(userId: string, traceId: string, hashes: string[]): Promise<Set<string>> {
  if (hashes.length === 0) return new Set();
  const { rows } = await pool().query<{ hash: string }>(
    `select encode(sha256, 'hex') as hash from picture where user_id = $1 and sha256 = any($3) and exists (
       select 1 from trace_picture link
       where link.user_id = $1 and link.trace_id = $2 and link.sha256 = picture.sha256)`,
    [userId, traceId, decodeHashes(hashes)],
  );
  return new Set(rows.map(({ hash }) => hash));
}

export async function hasStored(userId: string, traceId: string): Promise<boolean> {
  const { rows } = await pool().query(
    `select 1 from trace_picture link join picture on picture.user_id = $1 and picture.sha256 = link.sha256
     where link.user_id = $1 and link.trace_id = $2 limit 1`,
    [userId, traceId],
  );
  return rows.length > 0;
}

const batch = { pictures: 20, users: 20 };

/**
 * Deletes pictures without references, a bounded number per transaction; several processes may run it at once.
 *
 * @param seconds time limit; the rest is left for the next call
 */
export async function purgePictures(seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (let purged = 1; purged > 0 && performance.now() < deadline; ) {
    purged = 0;
    for (const userId of await findUsersToPurge(batch.users)) purged += await purgeSome(userId, batch.pictures);
  }
}
