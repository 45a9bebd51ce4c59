import type { Fields } from "../files/json.ts";

/** Sends records in the order of their numbers, which begin at 0, with a bounded number of them in memory. */
export class Reorderer {
  readonly #maxWaiting: number;
  readonly #send: (record: Fields) => void;
  readonly #waiting = new Map<number, Fields>();
  #next = 0;

  constructor(maxWaiting: number, send: (record: Fields) => void) {
    this.#maxWaiting = maxWaiting;
    this.#send = send;
  }

  /** Records whose number is unknown or taken are sent at once. */
  add(number: number | undefined, record: Fields): void {
    if (number === undefined || number < this.#next || this.#waiting.has(number)) {
      this.#send(record);
      return;
    }
    this.#waiting.set(number, record);
    this.#release();
    if (this.#waiting.size > this.#maxWaiting) this.#skip();
  }

  end(): void {
    while (this.#waiting.size > 0) this.#skip();
  }

  #skip(): void {
    this.#next = Math.min(...this.#waiting.keys());
    this.#release();
  }

  #release(): void {
    for (let record = this.#waiting.get(this.#next); record; record = this.#waiting.get(this.#next)) {
      this.#waiting.delete(this.#next++);
      this.#send(record);
    }
  }
}
