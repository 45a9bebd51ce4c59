// Blocks as rows of search_block and search_bucket.
import "server-only";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { parse as uuidBytes } from "uuid";
import { copyHeader, copyTrailer } from "#lib/copy-format";
import type { Bucket } from "#lib/search/block";

/** What stands beside a block's buckets. */
export type BlockHead = { bits: number; documents: number; postings: number };

/** Writes a block inside the transaction of `tx`. @returns its id */
export async function writeBlock(
  tx: PoolClient,
  userId: string,
  { bits, documents, postings }: BlockHead,
  buckets: Bucket[],
): Promise<string> {
  const { rows } = await tx.query<{ id: string }>(
    "insert into search_block (user_id, bits, documents, postings) values ($1, $2, $3, $4) returning id",
    [userId, bits, documents, postings],
  );
  const id = rows[0]?.id as string;
  const stream = tx.query(
    copyFrom("copy search_bucket (user_id, block_id, bucket, postings) from stdin (format binary)"),
  );
  await pipeline(Readable.from(copyRows(userId, id, buckets)), stream);
  return id;
}

/** What is handed to the connection at a time. */
const chunkBytes = 2 ** 17;

/** PostgreSQL's binary COPY format: each field behind its length. */
function* copyRows(userId: string, blockId: string, buckets: Bucket[]): Generator<Buffer> {
  const head = Buffer.alloc(2 + 4 + 16 + 4 + 8 + 4 + 4 + 4);
  head.writeInt16BE(4, 0);
  head.writeInt32BE(16, 2);
  head.set(uuidBytes(userId), 6);
  head.writeInt32BE(8, 22);
  head.writeBigInt64BE(BigInt(blockId), 26);
  head.writeInt32BE(4, 34);
  let parts: Uint8Array[] = [copyHeader];
  let bytes = 0;
  for (const { bucket, postings } of buckets) {
    head.writeInt32BE(bucket, 38);
    head.writeInt32BE(postings.length, 42);
    parts.push(Buffer.from(head), postings);
    bytes += head.length + postings.length;
    if (bytes < chunkBytes) continue;
    yield Buffer.concat(parts);
    parts = [];
    bytes = 0;
  }
  yield Buffer.concat([...parts, copyTrailer]);
}
