/**
 * A queue for a few slots that users share. A free slot is taken at once; a released one goes to the user who holds the
 * fewest, and among equals to the one whose turn was longest ago. So one user may hold every slot while nobody else wants
 * one, and the next free one goes to a user who has none.
 */
export class FairQueue {
  #free: number;
  readonly #held = new Map<string, number>();
  /** Waiting callers by user; the users in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** @param slots how many there are */
  constructor(slots: number) {
    this.#free = slots;
  }

  /** Waits for a slot. @returns a function that releases it, to be called once */
  async take(userId: string): Promise<() => void> {
    if (this.#free > 0) this.#lend(userId);
    else await new Promise<void>((resolve) => this.#waitingOf(userId).push(resolve));
    return () => this.#release(userId);
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
    const users = [...this.#waiting.keys()];
    const [first] = users;
    if (first === undefined) return;
    const next = users.reduce((best, user) => (this.#heldBy(user) < this.#heldBy(best) ? user : best), first);
    const callers = this.#waitingOf(next);
    const resolve = callers.shift();
    this.#waiting.delete(next);
    if (callers.length > 0) this.#waiting.set(next, callers); // after all the others
    this.#lend(next);
    resolve?.();
  }

  #heldBy(userId: string): number {
    return this.#held.get(userId) ?? 0;
  }

  #waitingOf(userId: string): (() => void)[] {
    const callers = this.#waiting.get(userId) ?? [];
    this.#waiting.set(userId, callers);
    return callers;
  }
}
