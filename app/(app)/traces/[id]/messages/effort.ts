import "server-only";

/**
 * What one answer may spend on how its texts look: the characters of code that are coloured, and as a last bound the time.
 * What comes when it is used up is shown plain.
 */
export class Effort {
  #milliseconds: number;
  #characters: number;
  #began: number | undefined;

  constructor({ milliseconds, characters }: { milliseconds: number; characters: number }) {
    this.#milliseconds = milliseconds;
    this.#characters = characters;
  }

  /** Whether no time is left, with the work under way. */
  isSpent(): boolean {
    const running = this.#began === undefined ? 0 : performance.now() - this.#began;
    return this.#milliseconds - running <= 0;
  }

  /** Takes characters off what may be coloured. @returns whether there were as many left */
  take(characters: number): boolean {
    if (this.isSpent() || this.#characters < characters) return false;
    this.#characters -= characters;
    return true;
  }

  /** Does some work on the clock; within other work it is counted once. */
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
