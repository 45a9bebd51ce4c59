/** Beyond `maxKeys`, the oldest key is forgotten and tried again. */
type Bounds = { firstMs: number; longestMs: number; maxKeys: number };
const usual: Bounds = { firstMs: 60_000, longestMs: 3_600_000, maxKeys: 100_000 };

/** Exponential backoff by key, in this process. */
export class Pauses {
  readonly #pauses = new Map<string, { ms: number; until: number }>();
  readonly #bounds: Bounds;

  constructor(bounds: Partial<Bounds> = {}) {
    this.#bounds = { ...usual, ...bounds };
  }

  isOver(key: string): boolean {
    return (this.#pauses.get(key)?.until ?? 0) <= performance.now();
  }

  begin(key: string): void {
    const { firstMs, longestMs, maxKeys } = this.#bounds;
    const ms = Math.min(longestMs, 2 * (this.#pauses.get(key)?.ms ?? firstMs / 2));
    this.#pauses.delete(key);
    this.#pauses.set(key, { ms, until: performance.now() + ms });
    const [oldest] = this.#pauses.keys();
    if (this.#pauses.size > maxKeys && oldest !== undefined) this.#pauses.delete(oldest);
  }

  end(key: string): void {
    this.#pauses.delete(key);
  }

  current(): string[] {
    return [...this.#pauses.keys()].filter((key) => !this.isOver(key));
  }
}
