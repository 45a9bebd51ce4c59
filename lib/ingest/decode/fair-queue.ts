/**
 * The line for a few places that users share. A free place is had at once; else it goes to the user who holds the fewest,
 * and of those who hold as many, to the one whose turn was longest ago. So one user may have every place while nobody else
 * wants one, and the next one that is free goes to whoever has none.
 */
export class FairQueue {
  #free: number;
  readonly #held = new Map<string, number>();
  /** Those who wait, by user; the users in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** @param places how many there are */
  constructor(places: number) {
    this.#free = places;
  }

  /** Waits for a place. @returns what gives it back, to be called once */
  async take(userId: string): Promise<() => void> {
    if (this.#free > 0) this.#lend(userId);
    else await new Promise<void>((resolve) => this.#line(userId).push(resolve));
    return () => this.#giveBack(userId);
  }

  #lend(userId: string): void {
    this.#free -= 1;
    this.#held.set(userId, this.#heldBy(userId) + 1);
  }

  #giveBack(userId: string): void {
    this.#free += 1;
    const left = this.#heldBy(userId) - 1;
    if (left > 0) this.#held.set(userId, left);
    else this.#held.delete(userId);
    this.#callNext();
  }

  #callNext(): void {
    const users = [...this.#waiting.keys()];
    const [first] = users;
    if (first === undefined) return;
    const next = users.reduce((best, user) => (this.#heldBy(user) < this.#heldBy(best) ? user : best), first);
    const line = this.#line(next);
    const called = line.shift();
    this.#waiting.delete(next);
    if (line.length > 0) this.#waiting.set(next, line); // behind all the others
    this.#lend(next);
    called?.();
  }

  #heldBy(userId: string): number {
    return this.#held.get(userId) ?? 0;
  }

  #line(userId: string): (() => void)[] {
    const line = this.#waiting.get(userId) ?? [];
    this.#waiting.set(userId, line);
    return line;
  }
}
