// SQL: COPY for postings, arrays for sets of rows.
import "server-only";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { parse as uuidBytes } from "uuid";
import { holdUsers } from "#lib/auth/sql";
import { copyStream } from "#lib/core/copy-format";
import { pool, type Queryable, transaction } from "#lib/db/client";
import type { SearchBlock, SearchDocument, Trace } from "#lib/generated/prisma/client";
import type { Bucket } from "#lib/search/index/block";
import { smallMetadataSql } from "#lib/search/index/sql/block-rows";

/** The higher `age`, the newer the traces, approximately. */
export type StoredBlock = Omit<SearchBlock, "userId" | "id" | "latestId"> & { id: string; age: string };

export const blockColumns = "id, bits, documents, postings, version, coalesce(latest_id, id) as age";

/** A stopped process must not keep the lock; entries lost in a crash are written again. */
const settings = { idle_in_transaction_session_timeout: "30s", synchronous_commit: "off" } as const;

/**
 * Prisma can't take the advisory lock.
 * @returns undefined if another process has it
 */
export function withIndexLock<T>(work: (tx: PoolClient) => Promise<T>): Promise<T | undefined> {
  return transaction(async (tx) => {
    const { rows } = await tx.query<{ locked: boolean }>(
      "select pg_try_advisory_xact_lock(hashtextextended('spoor.search', 0)) as locked",
    );
    return rows[0]?.locked ? work(tx) : undefined;
  }, settings);
}

export async function writeBlock(
  tx: PoolClient,
  userId: string,
  { bits, documents, postings, version, age }: Omit<StoredBlock, "id" | "age"> & { age?: string },
  buckets: Bucket[],
): Promise<string> {
  const { rows } = await tx.query<{ id: string }>(
    `insert into search_block (user_id, bits, documents, postings, version, latest_id) values ($1, $2, $3, $4, $5, $6)
     returning id`,
    [userId, bits, documents, postings, version, age],
  );
  const id = rows[0]?.id as string;
  const copy = "copy search_bucket (user_id, block_id, bucket, postings) from stdin (format binary)";
  await pipeline(Readable.from(copyStream(bucketRows(userId, id, buckets))), tx.query(copyFrom(copy)));
  return id;
}

function* bucketRows(userId: string, blockId: string, buckets: Bucket[]): Generator<Uint8Array[]> {
  const [user, block] = [uuidBytes(userId), Buffer.alloc(8)];
  block.writeBigInt64BE(BigInt(blockId));
  for (const { bucket, postings } of buckets) {
    const number = Buffer.allocUnsafe(4);
    number.writeInt32BE(bucket);
    yield [user, block, number, postings];
  }
}

export async function deleteBlocks(tx: PoolClient, userId: string, ids: string[]): Promise<void> {
  await tx.query("delete from search_block where user_id = $1 and id = any($2)", [userId, ids]);
}

export async function deleteOutdatedBlocks(tx: PoolClient, userId: string): Promise<number> {
  const { rows } = await tx.query<{ postings: number }>(
    `delete from search_block block where user_id = $1 and not exists (
       select 1 from search_document where user_id = $1 and block_id = block.id) returning postings`,
    [userId],
  );
  return rows.reduce((sum, { postings }) => sum + postings, 0);
}

/** Seconds; null if none waits. */
export async function readWaitingAges(): Promise<{ oldest: number | null; newest: number | null }> {
  const { rows } = await pool().query<{ oldest: number | null; newest: number | null }>(
    `select extract(epoch from now() - min(stored_at))::float8 as oldest,
            extract(epoch from now() - max(stored_at))::float8 as newest
     from trace where search_pending and deleted_at is null`,
  );
  return rows[0] ?? { oldest: null, newest: null };
}

export type Waiting = Pick<Trace, "id" | "title" | "messageCount"> & { hash: string; texts: string[] };

const state =
  "encode(content_hash, 'base64') || md5(coalesce(custom_title, '') || chr(1) || coalesce(note, '') || chr(1) || array_to_string(tags, chr(1)))";

/**
 * SQL: a partial index that Prisma can't express.
 * @param except excluded users and traces
 */
export async function readWaiting(
  tx: PoolClient,
  settledSeconds: number,
  limit: number,
  except: { users: string[]; traces: string[] },
): Promise<{ userId: string; traces: Waiting[] } | undefined> {
  const settled =
    "search_pending and deleted_at is null and stored_at <= now() - make_interval(secs => $1) and id <> all($2::uuid[])";
  const { rows: users } = await tx.query<{ userId: string }>(
    `select user_id as "userId" from trace where ${settled} and user_id <> all($3::uuid[])
     group by user_id order by min(stored_at) limit 1`,
    [settledSeconds, except.traces, except.users],
  );
  const userId = users[0]?.userId;
  if (!userId) return undefined;
  const { rows: traces } = await tx.query<Waiting>(
    `select id, ${state} as hash, coalesce(custom_title, title, derived_title) as title,
       array_remove(array[source_id, note] || tags, null) as texts, message_count as "messageCount"
     from trace where user_id = $3 and ${settled} order by stored_at limit $4`,
    [settledSeconds, except.traces, userId, limit],
  );
  return { userId, traces };
}

export type MessageSize = { traceId: string; position: number; bytes: number };

/** `octet_length` does not read out-of-line values. */
export async function readSizes(tx: PoolClient, userId: string, traceIds: string[]): Promise<MessageSize[]> {
  const { rows } = await tx.query<MessageSize>(
    `select trace_id as "traceId", position, octet_length(content) as bytes from message
     where user_id = $1 and trace_id = any($2) order by trace_id, position`,
    [userId, traceIds],
  );
  return rows;
}

export async function readContents(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  [first, last]: [MessageSize, MessageSize],
  maxCharacters: number,
): Promise<{ traceId: string; position: number; role: string | null; content: string; metadata: unknown }[]> {
  const { rows } = await tx.query(
    `select trace_id as "traceId", position, role, left(content, $7) as content,
       ${smallMetadataSql} from message
     where user_id = $1 and trace_id = any($2) and (trace_id, position) >= ($3, $4) and (trace_id, position) <= ($5, $6)
     order by trace_id, position`,
    [userId, traceIds, first.traceId, first.position, last.traceId, last.position, maxCharacters],
  );
  return rows;
}

/**
 * Traces that an upload locked or changed stay marked.
 * @returns ids of the marked traces
 */
export async function markIndexed(tx: PoolClient, userId: string, traces: Waiting[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update trace set search_pending = false from (
       select trace.id from unnest($2::uuid[], $3::text[]) as given (id, hash) join trace using (id)
       where user_id = $1 and ${state} = hash and deleted_at is null
       for update of trace skip locked) as same
     where trace.user_id = $1 and trace.id = same.id returning trace.id`,
    [userId, traces.map(({ id }) => id), traces.map(({ hash }) => hash)],
  );
  return rows.map(({ id }) => id);
}

type Placed = Pick<SearchDocument, "traceId" | "firstPosition" | "slot"> & { blockId: string };

export async function replaceDocuments(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  documents: Placed[],
): Promise<void> {
  await deleteDocuments(tx, userId, traceIds);
  await tx.query(
    `insert into search_document (user_id, trace_id, first_position, block_id, slot)
     select $1, * from unnest($2::uuid[], $3::int[], $4::bigint[], $5::smallint[])`,
    [
      userId,
      documents.map(({ traceId }) => traceId),
      documents.map(({ firstPosition }) => firstPosition),
      documents.map(({ blockId }) => blockId),
      documents.map(({ slot }) => slot),
    ],
  );
}

export async function deleteOutdated(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query(
    `delete from search_document using trace where search_document.user_id = $1 and search_document.trace_id = any($2)
       and trace.user_id = $1 and trace.id = search_document.trace_id and (trace.search_pending or trace.deleted_at is not null)`,
    [userId, traceIds],
  );
}

export async function deleteDocuments(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query("delete from search_document where user_id = $1 and trace_id = any($2)", [userId, traceIds]);
}

export async function findIncompleteBlock(tx: PoolClient, userId: string): Promise<StoredBlock | undefined> {
  const { rows } = await tx.query<StoredBlock>(
    `select ${blockColumns} from search_block block where user_id = $1 and documents > (
       select count(*) from search_document where user_id = $1 and block_id = block.id) limit 1`,
    [userId],
  );
  return rows[0];
}

export async function findUserToPurge(db: Queryable, except: string[] = []): Promise<{ userId: string } | undefined> {
  const { rows } = await db.query<{ userId: string }>(
    `select user_id as "userId" from trace
     where search_pending and deleted_at is not null and user_id <> all($1::uuid[]) limit 1`,
    [except],
  );
  return rows[0];
}

export async function readTombstones(tx: PoolClient, userId: string, limit: number): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    "select id from trace where user_id = $1 and search_pending and deleted_at is not null limit $2",
    [userId, limit],
  );
  return rows.map(({ id }) => id);
}

export async function markPurged(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query(
    `update trace set search_pending = false from (
       select id from trace where user_id = $1 and id = any($2) for no key update skip locked) as purged
     where user_id = $1 and trace.id = purged.id`,
    [userId, traceIds],
  );
}

/**
 * Waiting for users who are being deleted could deadlock.
 * @param find returns the next work of users other than `except`
 */
export async function holdNext<T extends { userId: string }>(
  tx: PoolClient,
  find: (except: string[]) => Promise<T | undefined>,
): Promise<T | undefined> {
  const leaving: string[] = [];
  for (;;) {
    const found = await find(leaving);
    if (!found || (await holdUsers(tx, [found.userId], false)).has(found.userId)) return found;
    leaving.push(found.userId);
  }
}
