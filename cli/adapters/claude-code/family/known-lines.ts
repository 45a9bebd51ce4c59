import type { Fields } from "../../../files/json.ts";

export type SavedLines = { latest: string; keys: string };

/**
 * Some versions write lines again when a session is resumed. Such a line is never later than all before it, so that
 * most need no lookup.
 */
export class KnownLines {
  #latest: string;
  readonly #keys: Set<number>;

  constructor(saved?: SavedLines) {
    this.#latest = saved?.latest ?? "";
    this.#keys = new Set(saved && readKeys(saved.keys));
  }

  save(): SavedLines {
    return { latest: this.#latest, keys: writeKeys(this.#keys) };
  }

  has(record: Fields): boolean {
    const key = getLineKey(record);
    if (key === undefined) return false;
    const timestamp = record.timestamp as string;
    if (timestamp > this.#latest) this.#latest = timestamp;
    else if (this.#keys.has(key)) return true;
    this.#keys.add(key);
    return false;
  }
}

/** Base64 of 64-bit numbers takes half of what JSON would. */
const writeKeys = (keys: ReadonlySet<number>): string => Buffer.from(Float64Array.from(keys).buffer).toString("base64");

function readKeys(saved: string): Float64Array {
  const bytes = Buffer.from(saved, "base64");
  return new Float64Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.length / 8));
}

/** Undefined if the id is no UUID, and so may not be unique. */
export function makeLineKey(uuid: unknown, timestamp: unknown): number | undefined {
  if (typeof uuid !== "string" || uuid.length < 36 || uuid[8] !== "-" || typeof timestamp !== "string")
    return undefined;
  return cyrb53(timestamp, cyrb53(uuid, 0));
}

export const getLineKey = ({ uuid, timestamp }: Fields): number | undefined => makeLineKey(uuid, timestamp);

function cyrb53(text: string, seed: number): number {
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
