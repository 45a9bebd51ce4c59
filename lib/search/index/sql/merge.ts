// SQL in the transaction of COPY, which is not Prisma's.
import "server-only";
import type { PoolClient } from "pg";
import type { Queryable } from "#lib/db/client";
import { type Bucket, blockVersion } from "#lib/search/index/block";
import { blockColumns, type StoredBlock } from "#lib/search/index/sql/write";
import { firstWordBucket } from "#lib/search/index/vocabulary";

export async function readSmallBlocks(
  tx: PoolClient,
  userId: string,
  below: { postings: number; documents: number },
): Promise<StoredBlock[]> {
  const { rows } = await tx.query<StoredBlock>(
    `select ${blockColumns} from search_block
     where user_id = $1 and postings < $2 and documents < $3 and version = $4 order by postings`,
    [userId, below.postings, below.documents, blockVersion],
  );
  return rows;
}

export async function findUserToCompact(
  db: Queryable,
  {
    postings,
    documents,
    least,
    except = [],
  }: { postings: number; documents: number; least: number; except?: string[] },
): Promise<{ userId: string } | undefined> {
  const { rows } = await db.query<{ userId: string }>(
    `select user_id as "userId" from search_block where postings < $1 and documents < $2 and user_id <> all($4::uuid[])
       and version = $5 group by user_id, floor(log($3::numeric, postings + 1)) having count(*) >= $3::int limit 1`,
    [postings, documents, least, except, blockVersion],
  );
  return rows[0];
}

export type Moved = { blockId: string; slot: number };

export async function readLiveDocuments(tx: PoolClient, userId: string, blockIds: string[]): Promise<Moved[]> {
  const { rows } = await tx.query<Moved>(
    `select block_id as "blockId", slot from search_document join trace on trace.user_id = $1 and trace.id = trace_id
     where search_document.user_id = $1 and block_id = any($2) and deleted_at is null order by block_id, slot`,
    [userId, blockIds],
  );
  return rows;
}

export async function moveDocuments(tx: PoolClient, userId: string, blockId: string, moved: Moved[]): Promise<void> {
  await tx.query(
    `update search_document set block_id = $2, slot = moved.new_slot
     from unnest($3::bigint[], $4::smallint[], $5::smallint[]) as moved (block_id, slot, new_slot)
     where search_document.user_id = $1 and search_document.block_id = moved.block_id
       and search_document.slot = moved.slot`,
    [userId, blockId, moved.map((from) => from.blockId), moved.map(({ slot }) => slot), moved.map((_, slot) => slot)],
  );
}

/** The `n`th of `2 ** bits` equal parts of each block's buckets. */
export async function readBucketSlice(
  tx: PoolClient,
  userId: string,
  blocks: StoredBlock[],
  { n, bits }: { n: number; bits: number },
): Promise<(Bucket & { blockId: string })[]> {
  const width = blocks.map((block) => 2 ** (block.bits - bits));
  const { rows } = await tx.query<Bucket & { blockId: string }>(
    `select block_id as "blockId", bucket, postings from unnest($2::bigint[], $3::int[], $4::int[]) as part (id, low, high)
     join search_bucket on user_id = $1 and block_id = part.id and bucket >= low and bucket < high`,
    [
      userId,
      blocks.map(({ id }) => id),
      width.map((buckets) => n * buckets),
      width.map((buckets) => (n + 1) * buckets),
    ],
  );
  return rows;
}

export async function readWordBuckets(
  tx: PoolClient,
  userId: string,
  blockIds: string[],
): Promise<Pick<Bucket, "postings">[]> {
  const { rows } = await tx.query<Pick<Bucket, "postings">>(
    "select postings from search_bucket where user_id = $1 and block_id = any($2::bigint[]) and bucket >= $3",
    [userId, blockIds, firstWordBucket],
  );
  return rows;
}

/**
 * Marks the traces of one outdated block for re-indexing, which then replaces it.
 * @returns whether there was such a block
 */
export async function markOutdated(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ userId: string; id: string }>(
    `select user_id as "userId", id from search_block block where version <> $1 and exists (
       select 1 from search_document join trace on trace.user_id = search_document.user_id and trace.id = trace_id
       where search_document.user_id = block.user_id and block_id = block.id and deleted_at is null) limit 1`,
    [blockVersion],
  );
  const [block] = rows;
  if (!block) return false;
  await db.query(
    `update trace set search_pending = true from (
       select trace.id from search_document join trace on trace.user_id = $1 and trace.id = trace_id
       where search_document.user_id = $1 and block_id = $2 and deleted_at is null
       for update of trace skip locked) as outdated
     where trace.user_id = $1 and trace.id = outdated.id`,
    [block.userId, block.id],
  );
  return true;
}
