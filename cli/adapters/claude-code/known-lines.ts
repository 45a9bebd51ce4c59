import type { Fields } from "../../files/json.ts";
import { keyOfLine, LineKeys } from "./line-keys.ts";

/** Known lines as JSON. */
export type SavedLines = { latest: string; keys: string };

/**
 * Tells lines that were written once more: some versions do so when a session is resumed or compacted. Such a line is not later
 * than all before it, so most need not be looked for.
 */
export class KnownLines {
  #latest: string;
  readonly #keys: LineKeys;

  /** @param saved what `save` returned */
  constructor(saved?: SavedLines) {
    this.#latest = saved?.latest ?? "";
    this.#keys = saved ? LineKeys.restore(saved.keys) : new LineKeys();
  }

  save(): SavedLines {
    return { latest: this.#latest, keys: this.#keys.save() };
  }

  /** Whether a line with the same id and time came before. Only ids that are UUIDs are trusted to be unique. */
  has(record: Fields): boolean {
    const key = keyOfLine(record);
    if (key === undefined) return false;
    const timestamp = record.timestamp as string;
    if (timestamp > this.#latest) this.#latest = timestamp;
    else if (this.#keys.has(key)) return true;
    this.#keys.add(key);
    return false;
  }
}
