type RecentEntry<T> = { value: T; bytes: number; usedAt: number };

export class Recent<T> {
  readonly #values = new Map<string, RecentEntry<T>>();
  readonly #maxBytes: number;
  readonly #maxIdleMs: number;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes: number, maxIdleMs: number) {
    this.#maxBytes = maxBytes;
    this.#maxIdleMs = maxIdleMs;
  }

  get(key: string): T | undefined {
    const found = this.#values.get(key);
    if (!found) return undefined;
    this.#values.delete(key);
    this.#values.set(key, { ...found, usedAt: performance.now() });
    return found.value;
  }

  /** @param bytes more than an eighth of the limit is not cached */
  set(key: string, value: T, bytes: number): void {
    if (this.#values.has(key) || bytes > this.#maxBytes / 8) return;
    this.#values.set(key, { value, bytes, usedAt: performance.now() });
    this.#bytes += bytes;
    this.#dropWhile(() => this.#bytes > this.#maxBytes);
    this.#watch();
  }

  #dropWhile(isWanted: (oldest: RecentEntry<T>) => boolean): void {
    for (const [key, entry] of this.#values) {
      if (!isWanted(entry)) return;
      this.#values.delete(key);
      this.#bytes -= entry.bytes;
    }
  }

  #watch(): void {
    const [oldest] = this.#values.values();
    if (this.#timer || !oldest) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        const since = performance.now() - this.#maxIdleMs;
        this.#dropWhile(({ usedAt }) => usedAt <= since);
        this.#watch();
      },
      oldest.usedAt + this.#maxIdleMs - performance.now(),
    ).unref();
  }
}
