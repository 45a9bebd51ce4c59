/** Values by key, up to so many bytes in all; the ones that were not used for longest make room. */
export class Recent<T> {
  readonly #values = new Map<string, { value: T; bytes: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): T | undefined {
    const found = this.#values.get(key);
    if (!found) return undefined;
    this.#values.delete(key);
    this.#values.set(key, found);
    return found.value;
  }

  /** @param bytes the memory that the value takes. One that takes more than an eighth of all is not kept. */
  set(key: string, value: T, bytes: number): void {
    if (this.#values.has(key) || bytes > this.#maxBytes / 8) return;
    this.#values.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#values) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#values.delete(oldest);
      this.#bytes -= freed;
    }
  }
}
