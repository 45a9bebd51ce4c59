import "server-only";

/** The budget for highlighting one response, in characters and milliseconds. */
export class Effort {
  #milliseconds: number;
  #characters: number;
  #began: number | undefined;

  constructor({ milliseconds, characters }: { milliseconds: number; characters: number }) {
    this.#milliseconds = milliseconds;
    this.#characters = characters;
  }

  isSpent(): boolean {
    const running = this.#began === undefined ? 0 : performance.now() - this.#began;
    return this.#milliseconds - running <= 0;
  }

  take(characters: number): boolean {
    if (this.isSpent() || this.#characters < characters) return false;
    this.#characters -= characters;
    return true;
  }

  /** Nested work is counted once. */
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
