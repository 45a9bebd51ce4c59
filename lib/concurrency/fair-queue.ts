/**
 * A queue for a few slots that users share. A free slot is taken at once; a released one goes to the user who holds the
 * fewest, and among equals to the one whose turn was longest ago. So one user may hold every slot that `perUser` allows while
 * nobody else wants one, and the next free one goes to a user who has none.
 */
export class FairQueue {
  #free: number;
  readonly #perUser: number;
  readonly #held = new Map<string, number>();
  /** Waiting callers by user; the users in the order of their turns. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /**
   * @param slots how many there are
   * @param perUser how many of them one user may hold
   */
  constructor(slots: number, perUser = slots) {
    this.#free = slots;
    this.#perUser = perUser;
  }

  /** How many callers of a user wait. */
  waitingOf(userId: string): number {
    return this.#waiting.get(userId)?.size ?? 0;
  }

  /**
   * Waits for a slot.
   *
   * @returns a function that releases the slot.
   * @throws the signal's reason, where it is aborted first
   */
  async take(userId: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    // Whoever waits while a slot is free holds as many as one user may.
    if (this.#free > 0 && this.#heldBy(userId) < this.#perUser) this.#lend(userId);
    else await this.#wait(userId, signal);
    let isHeld = true;
    return () => {
      if (isHeld) this.#release(userId);
      isHeld = false;
    };
  }

  #wait(userId: string, signal: AbortSignal | undefined): Promise<void> {
    const callers = this.#waiting.get(userId) ?? new Set();
    this.#waiting.set(userId, callers);
    return new Promise((resolve, reject) => {
      const proceed = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        callers.delete(proceed);
        if (callers.size === 0) this.#waiting.delete(userId);
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
    const [first, ...others] = [...this.#waiting.keys()].filter((user) => this.#heldBy(user) < this.#perUser);
    if (first === undefined) return;
    const next = others.reduce((best, user) => (this.#heldBy(user) < this.#heldBy(best) ? user : best), first);
    const callers = this.#waiting.get(next) ?? new Set();
    const [proceed] = callers;
    if (proceed) callers.delete(proceed);
    this.#waiting.delete(next);
    if (callers.size > 0) this.#waiting.set(next, callers); // after all the others
    this.#lend(next);
    proceed?.();
  }

  #heldBy(userId: string): number {
    return this.#held.get(userId) ?? 0;
  }
}
