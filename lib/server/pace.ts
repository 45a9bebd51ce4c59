import { setTimeout as sleep } from "node:timers/promises";

/** Requests of one network that may wait; a browser never has more than a few. */
const maxWaiting = 100;
const turnMs = 5;
const calmMs = 15;
const patienceMs = 250;

/**
 * Lets requests that keep the event loop busy begin one after another, each when the loop has caught up with the one before:
 * whatever else arrives waits for one of them, not for all. It counts beginnings and not ends, so that a slow sender holds
 * nothing. The networks take turns.
 */
export class Pace {
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = false;

  /** Calls `begin` at once, or in its turn. @returns false where too many of the network wait already */
  enter(network: string, begin: () => void): boolean {
    const mine = this.#waiting.get(network) ?? [];
    if (mine.length >= maxWaiting) return false;
    mine.push(begin);
    this.#waiting.set(network, mine);
    if (!this.#running) this.#run();
    return true;
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let begin = this.#next(); begin; begin = this.#next()) {
      begin();
      await catchUp();
    }
    this.#running = false;
  }

  #next(): (() => void) | undefined {
    const [network] = this.#waiting.keys();
    if (network === undefined) return undefined;
    const mine = this.#waiting.get(network) ?? [];
    const next = mine.shift();
    this.#waiting.delete(network);
    if (mine.length > 0) this.#waiting.set(network, mine); // after all the others
    return next;
  }
}

/** Waits until the event loop answers within 15 ms again, for a quarter of a second at most. */
async function catchUp(): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const started = performance.now();
    await sleep(turnMs);
    const ended = performance.now();
    if (ended - started < turnMs + calmMs || ended > deadline) return;
  }
}
