// What blocks have of terms, as this process has read it: a block never changes, and the words that take longest, for they are in
// every session, are those that are asked for again and again, with each letter that somebody types.
import "server-only";
import { LRUCache } from "lru-cache";
import { atRest } from "#lib/memory";
import type { BlockHead } from "#lib/search/sql/read";

/** The slots of a term in each block, by the block's id. */
type OfBlocks = Map<string, Uint16Array>;

/** A word that all of 50,000 sessions have takes 100 kB. */
const maxBytes = 16 * 1024 * 1024;
/** About what an entry takes beside its slots. */
const bytesPerBlock = 128;

const globals = globalThis as typeof globalThis & { spoorKnownSlots?: LRUCache<string, OfBlocks> };

function cache(): LRUCache<string, OfBlocks> {
  if (!globals.spoorKnownSlots) {
    const made = new LRUCache<string, OfBlocks>({ maxSize: maxBytes, sizeCalculation: sizeOf });
    atRest(() => made.clear());
    globals.spoorKnownSlots = made;
  }
  return globals.spoorKnownSlots;
}

function sizeOf(ofBlocks: OfBlocks): number {
  let bytes = bytesPerBlock;
  for (const { byteLength } of ofBlocks.values()) bytes += bytesPerBlock + byteLength;
  return bytes;
}

const keyOf = (userId: string, term: number) => `${userId} ${term}`;

/** What is known of a user's term. */
export const knownSlots = (userId: string, term: number): OfBlocks | undefined => cache().get(keyOf(userId, term));

/** Keeps what was read of terms; of blocks that are no more nothing is kept. */
export function keepSlots(userId: string, heads: BlockHead[], read: Map<number, OfBlocks>): void {
  for (const [term, ofBlocks] of read) {
    const known = knownSlots(userId, term);
    const all: OfBlocks = new Map(ofBlocks);
    for (const { id } of known ? heads : []) {
      const slots = known?.get(id);
      if (slots) all.set(id, slots);
    }
    cache().set(keyOf(userId, term), all);
  }
}
