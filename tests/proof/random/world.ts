// What is true of a made-up home: the tokens of each request, counted once, whatever the agents' files repeat or leave out.
import { makeRandom } from "../../support/random.ts";
import { add, makeKey, type Sum, type Sums } from "../sums.ts";

export type Line = Record<string, unknown>;
export type Tokens = Pick<Sum, "input" | "output" | "cacheRead" | "cacheWrite">;

const tokenNames = ["input", "output", "cacheRead", "cacheWrite"] as const;

/** A random home while it is made: its files, in the order in which they came to be, and the truth. */
export class World {
  readonly files = new Map<string, string>();
  readonly truth: Sums = new Map();
  /** The states of files that took part in each sum. */
  readonly kinds = new Map<string, Set<string>>();
  readonly #random: () => number;
  /** Which kinds may come up; all without it. */
  readonly #only: ReadonlySet<string> | undefined;
  #now: number;
  #number: number;

  constructor(seed: number, only?: ReadonlySet<string>) {
    this.#random = makeRandom(seed);
    this.#only = only;
    this.#number = seed * 10_000;
    this.#now = Date.parse("2026-11-01T20:00:00Z") + this.below(86_400_000);
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** Whether something comes up, so many times in a hundred. @param kind its name, where it makes tools differ */
  chance(percent: number, kind?: string): boolean {
    const isDrawn = this.#random() * 100 < percent;
    return isDrawn && (kind === undefined || !this.#only || this.#only.has(kind));
  }

  /** A number that no other call returns. */
  next(): number {
    this.#number += 1;
    return this.#number;
  }

  id(): string {
    return `${String(10_000_000 + this.below(89_999_999))}-0000-4000-8000-${String(this.next()).padStart(12, "0")}`;
  }

  /** The time now, some seconds later each time. */
  tick(seconds = 1 + this.below(40)): string {
    this.#now += seconds * 1000;
    return new Date(this.#now).toISOString();
  }

  /** Goes past the next midnight where that is near: what begins now ends on the same day. */
  begin(): void {
    const left = 86_400_000 - (this.#now % 86_400_000);
    if (left < 900_000) this.#now += left + 1000;
  }

  get now(): number {
    return this.#now;
  }

  /** Counts a request. @param kinds what of its files makes tools differ @returns its sum's key */
  use(agent: string, request: { model: string; at: string; tokens: Tokens }, ...kinds: string[]): string {
    const key = makeKey(agent, request.model, request.at.slice(0, 10));
    add(this.truth, key, { ...request.tokens, nano: undefined });
    this.note(key, ...kinds);
    return key;
  }

  /** Notes what makes tools differ in a sum. */
  note(key: string, ...kinds: string[]): void {
    this.kinds.set(key, new Set([...(this.kinds.get(key) ?? []), ...kinds]));
  }
}

/** Agents, models and days whose sums are not the same, each as text. */
export function differences(theirs: Sums, truth: Sums): string[] {
  const told = (sum: Sum | undefined) => (sum ? tokenNames.map((name) => sum[name]).join(" ") : "nothing");
  return [...new Set([...theirs.keys(), ...truth.keys()])].sort().flatMap((key) => {
    const [their, our] = [told(theirs.get(key)), told(truth.get(key))];
    return their === our ? [] : [`${key}: ${their} instead of ${our}`];
  });
}
