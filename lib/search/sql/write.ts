// Writing the index. All of it is SQL: postings go in by COPY, and sets of rows by one statement with arrays.
import "server-only";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { parse as uuidBytes } from "uuid";
import { copyStream } from "#lib/copy-format";
import { pool, type Queryable, transaction } from "#lib/db/client";
import type { SearchBlock, SearchDocument, Trace } from "#lib/generated/prisma/client";
import type { Bucket } from "#lib/search/block";
import { smallMetadataSql } from "#lib/search/sql/read";

/**
 * A block without its buckets. Its id is a bigint, which `pg` gives as text; `age` is the highest id of the blocks that it was merged
 * from, or its own: of two blocks, the one with more has the newer traces, about.
 */
export type NewBlock = Omit<SearchBlock, "userId" | "id" | "latestId"> & { id: string; age: string };

/** The columns of a block. */
export const blockColumns = "id, bits, documents, postings, version, coalesce(latest_id, id) as age";

/** A stopped process must not keep the lock. An index entry that is lost in a crash is written again. */
const settings = { idle_in_transaction_session_timeout: "30s", synchronous_commit: "off" } as const;

/**
 * Runs `work` in a transaction that holds the index's advisory lock, which Prisma can't take: of all processes one writes the
 * index at a time.
 *
 * @returns undefined where another process holds it.
 */
export function withIndexLock<T>(work: (tx: PoolClient) => Promise<T>): Promise<T | undefined> {
  return transaction(async (tx) => {
    const { rows } = await tx.query<{ locked: boolean }>(
      "select pg_try_advisory_xact_lock(hashtextextended('spoor.search', 0)) as locked",
    );
    return rows[0]?.locked ? work(tx) : undefined;
  }, settings);
}

/** Inserts a block; without an age it is the newest. SQL: COPY; a full block has 8,192 rows. @returns its id */
export async function writeBlock(
  tx: PoolClient,
  userId: string,
  { bits, documents, postings, version, age }: Omit<NewBlock, "id" | "age"> & { age?: string },
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

/** Deletes blocks with their buckets and documents. In the transaction of COPY, which is not Prisma's. */
export async function deleteBlocks(tx: PoolClient, userId: string, ids: string[]): Promise<void> {
  await tx.query("delete from search_block where user_id = $1 and id = any($2)", [userId, ids]);
}

/**
 * Deletes blocks all of whose documents have been indexed again since. In the transaction of COPY, which is not Prisma's.
 *
 * @returns how many postings they had.
 */
export async function deleteOutdatedBlocks(tx: PoolClient, userId: string): Promise<number> {
  const { rows } = await tx.query<{ postings: number }>(
    `delete from search_block block where user_id = $1 and not exists (
       select 1 from search_document where user_id = $1 and block_id = block.id) returning postings`,
    [userId],
  );
  return rows.reduce((sum, { postings }) => sum + postings, 0);
}

/** For how long the traces wait that are not yet indexed, in seconds; null where none waits. SQL: by the database's clock. */
export async function readWaitingAges(): Promise<{ oldest: number | null; newest: number | null }> {
  const { rows } = await pool().query<{ oldest: number | null; newest: number | null }>(
    `select extract(epoch from now() - min(stored_at))::float8 as oldest,
            extract(epoch from now() - max(stored_at))::float8 as newest
     from trace where search_pending and deleted_at is null`,
  );
  return rows[0] ?? { oldest: null, newest: null };
}

/** A trace to be indexed; `hash` tells whether it is still the same. */
export type Waiting = Pick<Trace, "id" | "title" | "messageCount"> & { hash: string; texts: string[] };

/** What is indexed of a trace changes with it. */
const state =
  "encode(content_hash, 'base64') || md5(coalesce(custom_title, '') || chr(1) || coalesce(note, '') || chr(1) || array_to_string(tags, chr(1)))";

/**
 * The traces that one user has waiting longest, whoever's trace that is. SQL: by the database's clock, and a partial index
 * that Prisma's conditions can't name.
 *
 * @param except users and traces that are left out.
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

/** A message's place and size in bytes. */
export type MessageSize = { traceId: string; position: number; bytes: number };

/** The sizes of the messages of traces. SQL: `octet_length` is known without reading a long text. */
export async function readSizes(tx: PoolClient, userId: string, traceIds: string[]): Promise<MessageSize[]> {
  const { rows } = await tx.query<MessageSize>(
    `select trace_id as "traceId", position, octet_length(content) as bytes from message
     where user_id = $1 and trace_id = any($2) order by trace_id, position`,
    [userId, traceIds],
  );
  return rows;
}

/** The beginnings of the messages of traces from one place to another. SQL: `left`, and an order by two columns. */
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
 * Marks the traces as indexed that are still what was read. One that an upload holds or has changed stays waiting. SQL:
 * `skip locked`, so that ingest and indexing never wait for each other.
 *
 * @returns the ids of those that were marked.
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

/** A document in its block. */
type Placed = Pick<SearchDocument, "traceId" | "firstPosition" | "slot"> & { blockId: string };

/** Replaces all documents of the given traces. SQL: thousands of rows in one statement, by arrays. */
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

/**
 * Deletes the documents of those traces that are to be indexed again or are deleted: what others have is of their rows as they are.
 * SQL: a join.
 */
export async function deleteOutdated(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query(
    `delete from search_document using trace where search_document.user_id = $1 and search_document.trace_id = any($2)
       and trace.user_id = $1 and trace.id = search_document.trace_id and (trace.search_pending or trace.deleted_at is not null)`,
    [userId, traceIds],
  );
}

/** Deletes all documents of traces. In the transaction of COPY, which is not Prisma's. */
export async function deleteDocuments(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query("delete from search_document where user_id = $1 and trace_id = any($2)", [userId, traceIds]);
}

/**
 * A block some of whose documents are gone, with postings that mean nothing any more. SQL: it compares a count with a column;
 * 8 ms at 50,000 documents.
 */
export async function findIncompleteBlock(tx: PoolClient, userId: string): Promise<NewBlock | undefined> {
  const { rows } = await tx.query<NewBlock>(
    `select ${blockColumns} from search_block block where user_id = $1 and documents > (
       select count(*) from search_document where user_id = $1 and block_id = block.id) limit 1`,
    [userId],
  );
  return rows[0];
}

/**
 * A user, but for some, who has tombstones with terms in the index. SQL: it runs on the pool and in the transaction of COPY
 * alike.
 */
export async function findUserToPurge(db: Queryable, except: string[] = []): Promise<{ userId: string } | undefined> {
  const { rows } = await db.query<{ userId: string }>(
    `select user_id as "userId" from trace
     where search_pending and deleted_at is not null and user_id <> all($1::uuid[]) limit 1`,
    [except],
  );
  return rows[0];
}

/** A user's tombstones with terms in the index. In the transaction of COPY, which is not Prisma's. */
export async function readTombstones(tx: PoolClient, userId: string, limit: number): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    "select id from trace where user_id = $1 and search_pending and deleted_at is not null limit $2",
    [userId, limit],
  );
  return rows.map(({ id }) => id);
}

/** Marks tombstones as purged. SQL: `skip locked`; one that an upload holds is left for the next time. */
export async function markPurged(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query(
    `update trace set search_pending = false from (
       select id from trace where user_id = $1 and id = any($2) for no key update skip locked) as purged
     where user_id = $1 and trace.id = purged.id`,
    [userId, traceIds],
  );
}
