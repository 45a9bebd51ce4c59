import type { Fields } from "../../files/json.ts";

/** What tells a line from all others: 53 bits of its id and time; undefined where its id is no UUID and begins with none, so that it may not be unique. */
export function lineKey(uuid: unknown, timestamp: unknown): number | undefined {
  if (typeof uuid !== "string" || uuid.length < 36 || uuid[8] !== "-" || typeof timestamp !== "string")
    return undefined;
  return hashOf(timestamp, hashOf(uuid, 0));
}

/** The key of a line. */
export const keyOfLine = ({ uuid, timestamp }: Fields): number | undefined => lineKey(uuid, timestamp);

/** Cyrb53, whose results are spread evenly also for texts that are nearly alike. */
function hashOf(text: string, seed: number): number {
  let low = 0xdeadbeef ^ (seed % 2 ** 32);
  let high = 0x41c6ce57 ^ Math.floor(seed / 2 ** 32);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  // Zero marks a free place in a set.
  return 2 ** 32 * (high & 0x1fffff) + (low >>> 0) || 1;
}

/** A set of lines' keys, in 16 to 32 bytes for each: a `Set` would take three times as much, and sessions have a million lines. */
export class LineKeys {
  #places = new Float64Array(64);
  #size = 0;

  has(key: number): boolean {
    return this.#places[this.#placeOf(key)] === key;
  }

  add(key: number): void {
    const place = this.#placeOf(key);
    if (this.#places[place] === key) return;
    this.#places[place] = key;
    this.#size++;
    if (this.#size * 2 > this.#places.length) this.#grow();
  }

  /** Where a key is, or would be. */
  #placeOf(key: number): number {
    const last = this.#places.length - 1;
    let place = (key % 2 ** 32) & last;
    while (this.#places[place] !== 0 && this.#places[place] !== key) place = (place + 1) & last;
    return place;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Float64Array(before.length * 2);
    for (const key of before) if (key !== 0) this.#places[this.#placeOf(key)] = key;
  }

  /** The set as a text. */
  save(): string {
    const keys = this.#places.filter((key) => key !== 0);
    return Buffer.from(keys.buffer, keys.byteOffset, keys.byteLength).toString("base64");
  }

  /** @param saved what `save` returned */
  static restore(saved: string): LineKeys {
    const keys = new LineKeys();
    const bytes = Buffer.from(saved, "base64");
    for (let at = 0; at + 8 <= bytes.length; at += 8) keys.add(bytes.readDoubleLE(at));
    return keys;
  }
}
