import "server-only";

/**
 * The budget of one response for highlighting: characters of code, and time as a last bound. What exceeds it is shown plain.
 */
export class Effort {
  #milliseconds: number;
  #characters: number;
  #began: number | undefined;

  constructor({ milliseconds, characters }: { milliseconds: number; characters: number }) {
    this.#milliseconds = milliseconds;
    this.#characters = characters;
  }

  /** Whether no time is left, running work included. */
  isSpent(): boolean {
    const running = this.#began === undefined ? 0 : performance.now() - this.#began;
    return this.#milliseconds - running <= 0;
  }

  /** Takes characters off the budget. @returns whether enough were left */
  take(characters: number): boolean {
    if (this.isSpent() || this.#characters < characters) return false;
    this.#characters -= characters;
    return true;
  }

  /** Runs some work on the clock; nested work is counted once. */
  spend<T>(work: () => T): T {
    if (this.#began !== undefined) return work();
    this.#began = performance.now();
    try {
      return work();
    } finally {
      this.#milliseconds -= performance.now() - this.#began;
      this.#began = undefined;
    }
  }
}
