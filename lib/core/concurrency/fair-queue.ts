type Shares = {
  perUser?: number;
  /** Slots reserved for users who have none. */
  kept?: number;
};

/** A released slot goes to the user with the fewest slots, then to the one who waited longest. */
export class FairQueue {
  #free: number;
  readonly #perUser: number;
  readonly #kept: number;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Map<string, Map<string, Set<() => void>>>();

  constructor(slots: number, { perUser = slots, kept = 0 }: Shares = {}) {
    this.#free = slots;
    this.#perUser = perUser;
    this.#kept = kept;
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  countWaiting(userId: string, kind = ""): number {
    return this.#waiting.get(userId)?.get(kind)?.size ?? 0;
  }

  /**
   * @param kind a user's kinds take turns
   * @returns a function that releases the slot
   * @throws the signal's reason if it is aborted first
   */
  async take(userId: string, signal?: AbortSignal, kind = ""): Promise<() => void> {
    signal?.throwIfAborted();
    // Callers that wait while a slot is free are not allowed to take it.
    if (this.#mayTake(userId)) this.#lend(userId);
    else await this.#wait(userId, kind, signal);
    return this.#makeRelease(userId);
  }

  /** As `take`. @returns undefined instead of waiting */
  takeFree(userId: string): (() => void) | undefined {
    if (!this.#mayTake(userId)) return undefined;
    this.#lend(userId);
    return this.#makeRelease(userId);
  }

  #makeRelease(userId: string): () => void {
    let isHeld = true;
    return () => {
      if (isHeld) this.#release(userId);
      isHeld = false;
    };
  }

  #mayTake(userId: string): boolean {
    const held = this.#heldBy(userId);
    return this.#free > (held === 0 ? 0 : this.#kept) && held < this.#perUser;
  }

  #wait(userId: string, kind: string, signal: AbortSignal | undefined): Promise<void> {
    const kinds = this.#waiting.get(userId) ?? new Map<string, Set<() => void>>();
    this.#waiting.set(userId, kinds);
    const callers = kinds.get(kind) ?? new Set();
    kinds.set(kind, callers);
    return new Promise((resolve, reject) => {
      const proceed = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        callers.delete(proceed);
        if (callers.size === 0) kinds.delete(kind);
        if (kinds.size === 0) this.#waiting.delete(userId);
        reject(signal?.reason);
      };
      callers.add(proceed);
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  #lend(userId: string): void {
    this.#free -= 1;
    this.#held.set(userId, this.#heldBy(userId) + 1);
  }

  #release(userId: string): void {
    this.#free += 1;
    const left = this.#heldBy(userId) - 1;
    if (left > 0) this.#held.set(userId, left);
    else this.#held.delete(userId);
    this.#resolveNext();
  }

  #resolveNext(): void {
    const [first, ...others] = [...this.#waiting.keys()].filter((user) => this.#mayTake(user));
    if (first === undefined) return;
    const next = others.reduce((best, user) => (this.#heldBy(user) < this.#heldBy(best) ? user : best), first);
    const proceed = this.#nextCaller(next);
    this.#lend(next);
    proceed?.();
  }

  #nextCaller(userId: string): (() => void) | undefined {
    const kinds = this.#waiting.get(userId);
    const [entry] = kinds ?? [];
    if (!kinds || !entry) return undefined;
    const [kind, callers] = entry;
    const [proceed] = callers;
    if (proceed) callers.delete(proceed);
    kinds.delete(kind);
    if (callers.size > 0) kinds.set(kind, callers);
    this.#waiting.delete(userId);
    if (kinds.size > 0) this.#waiting.set(userId, kinds);
    return proceed;
  }

  #heldBy(userId: string): number {
    return this.#held.get(userId) ?? 0;
  }
}

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
