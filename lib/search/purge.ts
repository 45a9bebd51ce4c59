// Removes the terms of deleted traces from the index. A tombstone is marked `search_pending` until none is left.
import "server-only";
import type { PoolClient } from "pg";
import { pool, transaction } from "#lib/db/client";
import { lockIndex, settings } from "#lib/search/lock";
import { type Block, rewrite } from "#lib/search/merge";

/** How many tombstones one transaction handles: their documents are removed, but no more than one block is rewritten. */
const maxTraces = 5000;

/**
 * Removes terms of deleted traces from the index: of one user, in one transaction, with at most one block rewritten (half a
 * second for a full one). What is left to do stands in the rows, so that it goes on where it was broken off.
 *
 * A block is rewritten where documents of it are gone. That finds postings that a deleted trace left behind when it was
 * indexed again, which nothing else remembers.
 *
 * @returns whether something was done, so that there may be more; false as well where another process holds the index.
 */
export async function purgeNext(): Promise<boolean> {
  // Looked at without a transaction first: that there is nothing to do is what it finds nearly always.
  if (!(await findUser(pool()))) return false;
  return transaction(async (tx) => {
    if (!(await lockIndex(tx))) return false;
    const userId = await findUser(tx);
    if (!userId) return false;
    const traceIds = await findTombstones(tx, userId);
    await tx.query("delete from search_document where user_id = $1 and trace_id = any($2)", [userId, traceIds]);
    const block = await findIncomplete(tx, userId);
    if (block) await rewrite(tx, userId, [block]);
    else await markPurged(tx, userId, traceIds);
    return true;
  }, settings);
}

async function findUser(from: Pick<PoolClient, "query">): Promise<string | undefined> {
  const { rows } = await from.query<{ userId: string }>(
    `select user_id as "userId" from trace where search_pending and deleted_at is not null limit 1`,
  );
  return rows[0]?.userId;
}

async function findTombstones(tx: PoolClient, userId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    "select id from trace where user_id = $1 and search_pending and deleted_at is not null limit $2",
    [userId, maxTraces],
  );
  return rows.map(({ id }) => id);
}

/** A block of which not all documents are there any more. */
async function findIncomplete(tx: PoolClient, userId: string): Promise<Block | undefined> {
  const { rows } = await tx.query<Block>(
    `select id, bits, documents, postings from search_block block where user_id = $1 and documents > (
       select count(*) from search_document where user_id = $1 and block_id = block.id) limit 1`,
    [userId],
  );
  return rows[0];
}

/** A tombstone that an upload holds just now is left for the next time. */
async function markPurged(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query(
    `update trace set search_pending = false from (
       select id from trace where user_id = $1 and id = any($2) for no key update skip locked) as purged
     where user_id = $1 and trace.id = purged.id`,
    [userId, traceIds],
  );
}
