import type { Fields } from "../../files/json.ts";
import { getLineKey } from "./line-keys.ts";

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
