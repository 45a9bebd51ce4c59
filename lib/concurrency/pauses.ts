/** The first pause and the longest, in milliseconds; and how many keys are known: with more the oldest is forgotten, and tried again. */
type Bounds = { firstMs: number; longestMs: number; maxKeys: number };
const usual: Bounds = { firstMs: 60_000, longestMs: 3_600_000, maxKeys: 100_000 };

/** What failed in this process, by a key of its own, and for how long it is left alone: twice as long after each failure. */
export class Pauses {
  readonly #pauses = new Map<string, { ms: number; until: number }>();
  readonly #bounds: Bounds;

  constructor(bounds: Partial<Bounds> = {}) {
    this.#bounds = { ...usual, ...bounds };
  }

  /** Whether something has not failed, or not lately. */
  isOver(key: string): boolean {
    return (this.#pauses.get(key)?.until ?? 0) <= performance.now();
  }

  /** Something failed: it is left alone for a while. */
  begin(key: string): void {
    const { firstMs, longestMs, maxKeys } = this.#bounds;
    const ms = Math.min(longestMs, 2 * (this.#pauses.get(key)?.ms ?? firstMs / 2));
    this.#pauses.delete(key);
    this.#pauses.set(key, { ms, until: performance.now() + ms });
    const [oldest] = this.#pauses.keys();
    if (this.#pauses.size > maxKeys && oldest !== undefined) this.#pauses.delete(oldest);
  }

  /** Something went well. */
  end(key: string): void {
    this.#pauses.delete(key);
  }

  /** What is left alone at this moment. */
  current(): string[] {
    return [...this.#pauses.keys()].filter((key) => !this.isOver(key));
  }
}
