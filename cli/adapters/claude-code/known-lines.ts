import type { Fields } from "../../files/json.ts";
import { getLineKey } from "./line-keys.ts";

/** Known lines as JSON. */
export type SavedLines = { latest: string; keys: string };

/**
 * Tells lines that were written once more: some versions do so when a session is resumed or compacted. Such a line is not later
 * than all before it, so most need not be looked for.
 */
export class KnownLines {
  #latest: string;
  readonly #keys: Set<number>;

  /** @param saved what `save` returned */
  constructor(saved?: SavedLines) {
    this.#latest = saved?.latest ?? "";
    this.#keys = new Set(saved && readKeys(saved.keys));
  }

  save(): SavedLines {
    return { latest: this.#latest, keys: writeKeys(this.#keys) };
  }

  /** Whether a line with the same id and time came before. Only ids that are UUIDs are trusted to be unique. */
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

/** Writes keys as numbers of 64 bits in Base64, which takes half of what JSON would. */
const writeKeys = (keys: ReadonlySet<number>): string => Buffer.from(Float64Array.from(keys).buffer).toString("base64");

function readKeys(saved: string): Float64Array {
  const bytes = Buffer.from(saved, "base64");
  return new Float64Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.length / 8));
}
