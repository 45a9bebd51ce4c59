// Many small blocks become one, as in a log-structured merge tree, so that a search looks into few.
import "server-only";
import type { PoolClient } from "pg";
import {
  type Bucket,
  bucketBits,
  encode,
  forEachPosting,
  maxDocuments,
  type Postings,
  postingOf,
  sort,
} from "#lib/search/block";
import { type BlockHead, writeBlock } from "#lib/search/store";

/** A block of so many postings or documents is merged no more. */
const full = { postings: 2 ** 21, documents: maxDocuments / 2 };
/** So many blocks of about one size become one; each posting is written again once for each size up to a full block. */
const fanIn = 8;
/** A merge reads and sorts a 64th of the terms at a time. */
const sliceBits = 6;

export type Block = BlockHead & { id: string };

/** Merges blocks of a user where eight are of about one size. @returns whether there were */
export async function mergeBlocks(tx: PoolClient, userId: string): Promise<boolean> {
  const { rows } = await tx.query<Block>(
    `select id, bits, documents, postings from search_block
     where user_id = $1 and postings < $2 and documents < $3 order by postings`,
    [userId, full.postings, full.documents],
  );
  const ofOneSize = [...Map.groupBy(rows, ({ postings }) => Math.floor(Math.log2(postings + 1) / 3)).values()];
  const blocks = ofOneSize.find(({ length }) => length >= fanIn);
  if (!blocks) return false;
  await rewrite(tx, userId, withinOne(blocks));
  return true;
}

/** As many of the blocks as fit into one: two at least, for none of them is full. */
function withinOne(blocks: Block[]): Block[] {
  let [documents, postings] = [0, 0];
  return blocks.filter((block) => {
    documents += block.documents;
    postings += block.postings;
    return documents <= maxDocuments && postings <= 2 * full.postings;
  });
}

/** Writes blocks anew as one, without what has been indexed again since or was deleted. */
export async function rewrite(tx: PoolClient, userId: string, blocks: Block[]): Promise<void> {
  const { slots, moved } = await assignSlots(tx, userId, blocks);
  const slice = Math.min(sliceBits, ...blocks.map(({ bits }) => bits));
  const total = blocks.reduce((sum, { postings }) => sum + postings, 0);
  const bits = Math.max(slice, bucketBits(total));
  const buckets: Bucket[] = [];
  let postings = 0;
  for (let n = 0; n < 2 ** slice && moved.length > 0; n += 1) {
    const sorted = await readSlice(tx, userId, blocks, slots, { n, bits: slice });
    postings += sorted.length;
    buckets.push(...encode(sorted, bits));
  }
  if (moved.length > 0) {
    const id = await writeBlock(tx, userId, { bits, documents: moved.length, postings }, buckets);
    await tx.query(
      `update search_document set block_id = $2, slot = moved.new_slot
       from unnest($3::bigint[], $4::smallint[], $5::smallint[]) as moved (block_id, slot, new_slot)
       where search_document.user_id = $1 and search_document.block_id = moved.block_id
         and search_document.slot = moved.slot`,
      [userId, id, moved.map(({ blockId }) => blockId), moved.map(({ slot }) => slot), moved.map((_, slot) => slot)],
    );
  }
  await tx.query("delete from search_block where user_id = $1 and id = any($2)", [userId, blocks.map(({ id }) => id)]);
}

type Moved = { blockId: string; slot: number };

/** Gives the documents that still count the slots of the new block, in their order. */
async function assignSlots(
  tx: PoolClient,
  userId: string,
  blocks: Block[],
): Promise<{ slots: Map<string, Map<number, number>>; moved: Moved[] }> {
  const { rows: moved } = await tx.query<Moved>(
    `select block_id as "blockId", slot from search_document join trace on trace.user_id = $1 and trace.id = trace_id
     where search_document.user_id = $1 and block_id = any($2) and deleted_at is null order by block_id, slot`,
    [userId, blocks.map(({ id }) => id)],
  );
  const slots = new Map(blocks.map(({ id }) => [id, new Map<number, number>()]));
  moved.forEach(({ blockId, slot }, newSlot) => {
    slots.get(blockId)?.set(slot, newSlot);
  });
  return { slots, moved };
}

/** The postings of blocks whose terms begin with some bits, by the new slots, sorted. */
async function readSlice(
  tx: PoolClient,
  userId: string,
  blocks: Block[],
  slots: Map<string, Map<number, number>>,
  slice: { n: number; bits: number },
): Promise<Postings> {
  const bitsOf = new Map(blocks.map(({ id, bits }) => [id, bits]));
  const width = blocks.map(({ bits }) => 2 ** (bits - slice.bits));
  const { rows } = await tx.query<Bucket & { blockId: string }>(
    `select block_id as "blockId", bucket, postings from unnest($2::bigint[], $3::int[], $4::int[]) as part (id, low, high)
     join search_bucket on user_id = $1 and block_id = part.id and bucket >= low and bucket < high`,
    [
      userId,
      blocks.map(({ id }) => id),
      width.map((buckets) => slice.n * buckets),
      width.map((buckets) => (slice.n + 1) * buckets),
    ],
  );
  // Each posting has a byte at least.
  const postings = new Float64Array(rows.reduce((sum, row) => sum + row.postings.length, 0));
  let count = 0;
  for (const row of rows) {
    const newSlots = slots.get(row.blockId);
    forEachPosting(row, bitsOf.get(row.blockId) ?? 0, (term, slot) => {
      const newSlot = newSlots?.get(slot);
      if (newSlot !== undefined) postings[count++] = postingOf(term, newSlot);
    });
  }
  return sort(postings.subarray(0, count));
}
