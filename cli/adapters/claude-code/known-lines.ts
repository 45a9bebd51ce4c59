import type { Fields } from "../../files/json.ts";

/** Of so many lines and as many before them, the ids are known. */
const maxLines = 10_000;
/** Of one time, so many lines are compared one by one. */
const maxAtOnce = 32;

/**
 * Tells lines that were written once more: some versions do so when a session is resumed. Such a line is not later than the one
 * before it, so the ids are only put in order, which would take a third of the time of a reading, once there is one.
 */
export class KnownLines {
  #latest = "";
  #atLatest: string[] = [];
  #recent: number[] = [];
  #older: number[] = [];
  #index: Set<number> | undefined;

  /** Whether a line with the same id came before. Only ids that are UUIDs are trusted to be unique. */
  has({ uuid, timestamp }: Fields): boolean {
    if (typeof uuid !== "string" || uuid.length !== 36 || uuid[8] !== "-" || typeof timestamp !== "string")
      return false;
    if (timestamp > this.#latest) {
      this.#latest = timestamp;
      this.#atLatest = [];
    } else if (this.#isKnown(uuid, timestamp)) return true;
    if (timestamp === this.#latest && this.#atLatest.length < maxAtOnce) this.#atLatest.push(uuid);
    this.#remember(uuid);
    return false;
  }

  #isKnown(uuid: string, timestamp: string): boolean {
    if (timestamp === this.#latest && this.#atLatest.length < maxAtOnce) return this.#atLatest.includes(uuid);
    this.#index ??= new Set([...this.#older, ...this.#recent]);
    return this.#index.has(numberOf(uuid));
  }

  #remember(uuid: string): void {
    const number = numberOf(uuid);
    this.#recent.push(number);
    this.#index?.add(number);
    if (this.#recent.length < maxLines) return;
    this.#older = this.#recent;
    this.#recent = [];
    if (this.#index) this.#index = new Set(this.#older);
  }
}

/** The last 48 bits of an id, which are random in all its versions. */
const numberOf = (uuid: string): number => Number.parseInt(uuid.slice(24), 16);
