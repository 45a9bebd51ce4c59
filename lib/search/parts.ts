import "server-only";
import type { PoolClient } from "pg";
import { hasBit, setBit } from "#lib/search/bits";
import { type Hits, hitsIn, type Matched } from "#lib/search/find";
import { computeWeights } from "#lib/search/rank";
import { readParts } from "#lib/search/sql/read";

/** Limits hits to the documents of each trace that match best. */
export async function bestParts(
  tx: PoolClient,
  userId: string,
  matched: Matched,
  max: number,
  weights = computeWeights(matched),
): Promise<Hits> {
  const blocks = matched.blocks.map((block) => ({ ...block, slots: Buffer.from(block.slots) }));
  const byId = new Map(blocks.map((block) => [block.id, block]));
  const parts = (await readParts(tx, userId)).flatMap(({ traceId, blockId, slot }) => {
    const block = byId.get(blockId);
    if (!block || !hasBit(block.slots, slot)) return [];
    const having = block.ofUnits.map((bits, at) => (bits && hasBit(bits, slot) ? (weights[at] as number) : 0));
    return { traceId, slots: block.slots, slot, has: having.reduce((sum, weight) => sum + weight, 0) };
  });
  for (const own of Map.groupBy(parts, ({ traceId }) => traceId).values())
    for (const { slots, slot } of own.sort((a, b) => b.has - a.has).slice(max)) setBit(slots, slot, false);
  return hitsIn({ blocks, heads: matched.heads });
}
