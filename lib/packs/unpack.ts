import "server-only";
import type { PoolClient } from "pg";
import { readPacks } from "#lib/packs/read";
import { readHeads } from "#lib/packs/sql/read";
import { clearPacked, deletePacks, insertRows } from "#lib/packs/sql/write";

/**
 * Makes rows of the packs of traces, which the transaction has locked, so that they can be changed; they are packed again once they
 * are quiet. 27.7 MB take 0.4 s.
 *
 * @throws Error where a pack does not have what it had: nothing is unpacked then, and nothing lost
 */
export async function unpack(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  if (traceIds.length === 0) return;
  const marked = await clearPacked(tx, userId, traceIds);
  if (marked.length === 0) return;
  const heads = await readHeads(tx, userId, marked);
  if (heads.length === 0) return; // one that was not worth it
  for await (const { rows, messages } of readPacks(tx, userId, heads)) {
    const written = await insertRows(tx, rows);
    if (written !== messages) throw new Error(`a pack has ${written} messages in place of ${messages}`);
  }
  await deletePacks(tx, userId, marked);
}
