/** Serializes work under the same key. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** @returns a function that ends the turn */
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
