import type { Fields } from "../../files/json.ts";

/** Undefined if the id is no UUID, and so may not be unique. */
export function makeLineKey(uuid: unknown, timestamp: unknown): number | undefined {
  if (typeof uuid !== "string" || uuid.length < 36 || uuid[8] !== "-" || typeof timestamp !== "string")
    return undefined;
  return hash(timestamp, hash(uuid, 0));
}

export const getLineKey = ({ uuid, timestamp }: Fields): number | undefined => makeLineKey(uuid, timestamp);

function hash(text: string, seed: number): number {
  let low = 0xdeadbeef ^ (seed % 2 ** 32);
  let high = 0x41c6ce57 ^ Math.floor(seed / 2 ** 32);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return 2 ** 32 * (high & 0x1fffff) + (low >>> 0);
}
