import { randomBytes } from "node:crypto";

/** Makes a generator of reproducible numbers from 0 to below 1 (mulberry32). */
export function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Makes an incompressible text of a given length. */
export const makeNoise = (length: number): string => randomBytes(length).toString("base64").slice(0, length);
