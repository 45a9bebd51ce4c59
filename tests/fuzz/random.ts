/** Reproducible pseudo-random numbers: mulberry32, its state derived from a seed and a case's number. */
export class Random {
  #state: number;

  constructor(seed: number, index: number) {
    this.#state = (Math.imul(seed, 0x9e37_79b1) ^ Math.imul(index + 1, 0x85eb_ca6b)) >>> 0;
    this.share();
  }

  /** A number from 0 to below 1. */
  share(): number {
    this.#state = (this.#state + 0x6d2b_79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.share() * limit);
  }

  /** True in one of `times` cases. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)));
  }
}
