// Merges small blocks as a log-structured merge tree does.
import "server-only";
import type { PoolClient } from "pg";
import { type Bucket, blockVersion, bucketBits, encode, forEachPosting } from "#lib/search/index/block";
import { makePosting, maxDocuments, type Postings, sort } from "#lib/search/index/posting";
import {
  type Moved,
  moveDocuments,
  readBucketSlice,
  readLiveDocuments,
  readSmallBlocks,
  readWordBuckets,
} from "#lib/search/index/sql/merge";
import { deleteBlocks, type StoredBlock, writeBlock } from "#lib/search/index/sql/write";
import { decodeWords, Vocabulary } from "#lib/search/index/vocabulary";

export type Full = { postings: number; documents: number };

/** Four megabytes, written in a second. */
const full: Full = { postings: 2 ** 21, documents: maxDocuments / 2 };
export type Load = "idle" | "busy";

/** Each posting is rewritten once per size class. */
const fanIn: Record<Load, number> = { idle: 4, busy: 8 };
/** Bounds memory. */
const sliceBits = 6;

export const mergeBlocks = (tx: PoolClient, userId: string, load: Load): Promise<number> =>
  mergeAlike(tx, userId, { least: fanIn[load], full });

/**
 * @param options.proceed awaited before each part; if it throws, nothing changes
 * @returns the former blocks' postings
 */
export async function mergeAlike(
  tx: PoolClient,
  userId: string,
  { least, full, proceed }: { least: number; full: Full; proceed?: () => Promise<void> },
): Promise<number> {
  const small = await readSmallBlocks(tx, userId, full);
  const alike = ({ postings }: StoredBlock) => Math.floor(Math.log2(postings + 1) / Math.log2(least));
  const bySize = [...Map.groupBy(small, alike).values()];
  const blocks = bySize.find(({ length }) => length >= least);
  if (!blocks) return 0;
  const former = withinOne(
    blocks.sort((a, b) => getAge(a) - getAge(b)),
    full,
  );
  await rewriteBlocks(tx, userId, former, proceed);
  return former.reduce((sum, { postings }) => sum + postings, 0);
}

const getAge = ({ age }: StoredBlock) => Number(age);

/** At least two, since none is full. */
function withinOne(blocks: StoredBlock[], full: Full): StoredBlock[] {
  let [documents, postings] = [0, 0];
  return blocks.filter((block) => {
    documents += block.documents;
    postings += block.postings;
    return documents <= maxDocuments && postings <= 2 * full.postings;
  });
}

export async function rewriteBlocks(
  tx: PoolClient,
  userId: string,
  blocks: StoredBlock[],
  proceed: () => Promise<void> = async () => {},
): Promise<void> {
  const moved = await readLiveDocuments(tx, userId, blockIds(blocks));
  if (moved.length > 0) {
    const version = blocks[0]?.version ?? blockVersion;
    const { buckets, ...head } = await mergePostings(tx, userId, blocks, moved, proceed);
    const age = String(Math.max(...blocks.map(getAge)));
    const id = await writeBlock(tx, userId, { ...head, version, age, documents: moved.length }, buckets);
    await moveDocuments(tx, userId, id, moved);
  }
  await deleteBlocks(tx, userId, blockIds(blocks));
}

const blockIds = (blocks: StoredBlock[]) => blocks.map(({ id }) => id);

async function mergePostings(
  tx: PoolClient,
  userId: string,
  blocks: StoredBlock[],
  moved: Moved[],
  proceed: () => Promise<void>,
): Promise<{ bits: number; postings: number; buckets: Bucket[] }> {
  const newSlots = new Map(blocks.map(({ id }) => [id, new Map<number, number>()]));
  for (const [newSlot, { blockId, slot }] of moved.entries()) newSlots.get(blockId)?.set(slot, newSlot);
  const slice = Math.min(sliceBits, ...blocks.map(({ bits }) => bits));
  const total = blocks.reduce((sum, { postings }) => sum + postings, 0);
  const bits = Math.max(slice, bucketBits(total));
  const buckets: Bucket[] = [];
  const vocabulary = new Vocabulary();
  for (const { postings } of await readWordBuckets(tx, userId, blockIds(blocks)))
    vocabulary.addAll(decodeWords(postings));
  let postings = 0;
  for (let n = 0; n < 2 ** slice; n += 1) {
    await proceed();
    const rows = await readBucketSlice(tx, userId, blocks, { n, bits: slice });
    const sorted = sortMoved(rows, blocks, newSlots);
    postings += sorted.length;
    buckets.push(...encode(sorted, bits));
    countTerms(sorted, vocabulary);
  }
  buckets.push(...(await vocabulary.encode(bits)));
  return { bits, postings, buckets };
}

function countTerms(sorted: Postings, vocabulary: Vocabulary): void {
  let [term, documents] = [-1, 0];
  for (const posting of sorted) {
    const next = Math.floor(posting / maxDocuments);
    if (next !== term) {
      if (documents > 0) vocabulary.count(term, documents);
      [term, documents] = [next, 0];
    }
    documents += 1;
  }
  if (documents > 0) vocabulary.count(term, documents);
}

function sortMoved(
  rows: (Bucket & { blockId: string })[],
  blocks: StoredBlock[],
  newSlots: Map<string, Map<number, number>>,
): Postings {
  const headsById = new Map(blocks.map((block) => [block.id, block]));
  const postings = new Float64Array(rows.reduce((sum, row) => sum + row.postings.length, 0)); // each takes a byte or more
  let count = 0;
  for (const row of rows) {
    const [{ bits }, slots] = [headsById.get(row.blockId) as StoredBlock, newSlots.get(row.blockId)];
    forEachPosting(row, bits, (term, slot) => {
      const newSlot = slots?.get(slot);
      if (newSlot === undefined) return;
      postings[count++] = makePosting(term, newSlot);
    });
  }
  return sort(postings.subarray(0, count));
}
