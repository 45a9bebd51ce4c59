import { randomBytes } from "node:crypto";

/** Makes a generator of numbers from 0 to below 1, the same ones for the same seed (mulberry32). */
export function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Makes a text of so many characters that can't be compressed. */
export const makeNoise = (length: number): string => randomBytes(length).toString("base64").slice(0, length);
