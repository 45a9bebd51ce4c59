import "server-only";

/** The time that one answer may spend on how its texts look. What comes when it is used up is shown plain. */
export class Effort {
  #left: number;
  #began: number | undefined;

  constructor(milliseconds: number) {
    this.#left = milliseconds;
  }

  /** Whether nothing is left, the work under way included. */
  isSpent(): boolean {
    const running = this.#began === undefined ? 0 : performance.now() - this.#began;
    return this.#left - running <= 0;
  }

  /** Does some work on the clock; within other work it is counted once. */
  spend<T>(work: () => T): T {
    if (this.#began !== undefined) return work();
    this.#began = performance.now();
    try {
      return work();
    } finally {
      this.#left -= performance.now() - this.#began;
      this.#began = undefined;
    }
  }
}
