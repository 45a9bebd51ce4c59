/** A mutex for each key. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Waits for the key's lock. @returns a function that releases it */
  async take(key: string): Promise<() => void> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const before = this.#last.get(key);
    const last = before ? before.then(() => ended) : ended;
    this.#last.set(key, last);
    last.then(() => {
      if (this.#last.get(key) === last) this.#last.delete(key);
    });
    await before;
    return end;
  }
}
