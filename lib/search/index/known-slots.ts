// Blocks never change, and the most frequent words are the slowest to read.
import "server-only";
import { LRUCache } from "lru-cache";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { atRest } from "#lib/core/memory";
import type { BlockHead } from "#lib/search/index/sql/block-rows";

type OfBlocks = Map<string, Uint16Array>;

/** A word in all of 50,000 sessions takes 100 kB. */
const maxBytes = 16 * 1024 * 1024;
/** Approximate overhead. */
const bytesPerBlock = 256;

const cache = oncePerProcess("slots of terms", () => {
  const made = new LRUCache<string, OfBlocks>({ maxSize: maxBytes, sizeCalculation: measureSize });
  atRest(() => made.clear());
  return made;
});

function measureSize(ofBlocks: OfBlocks): number {
  let bytes = bytesPerBlock;
  for (const { byteLength } of ofBlocks.values()) bytes += bytesPerBlock + byteLength;
  return bytes;
}

const getCacheKey = (userId: string, term: number) => `${userId} ${term}`;

export const knownSlots = (userId: string, term: number): OfBlocks | undefined => cache.get(getCacheKey(userId, term));

export function keepSlots(userId: string, heads: BlockHead[], read: Map<number, OfBlocks>): void {
  const keys = heads.map(({ key }) => key);
  for (const [term, ofBlocks] of read) {
    const known = knownSlots(userId, term);
    const all: OfBlocks = new Map(ofBlocks);
    for (const key of known ? keys : []) {
      const slots = known?.get(key);
      if (slots) all.set(key, slots);
    }
    cache.set(getCacheKey(userId, term), all);
  }
}
