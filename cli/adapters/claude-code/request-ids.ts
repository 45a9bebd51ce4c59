import type { Usage } from "../usage.ts";

/** What is known of the latest request with an id. */
type Seen = { number: number; turn: number; step: number; model: string | undefined; input: number[] };
export type SavedIds = { turn: number; step: number; seen: [string, Seen][] };

/** Lines of one request stand close together. */
const maxIds = 1000;

/**
 * Tells requests apart whose ids are the same: gateways use ids again, or write none. Lines are of the same request where ids, model
 * and input are the same and nobody spoke between them; of one whose lines follow each other the input may still grow.
 */
export class RequestIds {
  #turn: number;
  #step: number;
  readonly #seen: Map<string, Seen>;

  /** @param saved what `save` returned */
  constructor(saved?: SavedIds) {
    this.#turn = saved?.turn ?? 0;
    this.#step = saved?.step ?? 0;
    this.#seen = new Map(saved?.seen);
  }

  save(): SavedIds {
    return { turn: this.#turn, step: this.#step, seen: [...this.#seen] };
  }

  /** Notes a line of the user's: their words, or only results of tools. */
  hear(isSpoken: boolean): void {
    if (isSpoken) this.#turn++;
    this.#step++;
  }

  /** Counts the requests with an id so far, including the one that reports this usage. @param id empty where there is none */
  countRequests(id: string, usage: Usage, model: string | undefined): number {
    const input = [usage.inputTokens ?? 0, usage.cacheReadTokens ?? 0, usage.cacheWriteTokens ?? 0];
    const before = this.#seen.get(id);
    const isSame = before?.model === model && before !== undefined && this.#isSame(before, input, id !== "");
    const number = (before?.number ?? 0) + (isSame ? 0 : 1);
    this.#seen.set(id, { number, turn: this.#turn, step: this.#step, model, input });
    if (this.#seen.size > maxIds) this.#seen.delete(this.#seen.keys().next().value ?? "");
    return number;
  }

  #isSame(before: Seen, input: number[], hasId: boolean): boolean {
    if (before.turn !== this.#turn) return false;
    if (input.every((count, side) => count === before.input[side])) return true;
    // The first lines of a stream may be written before all of its input was counted.
    const grows = input.every((count, side) => count >= (before.input[side] ?? 0));
    return hasId && grows && (before.step === this.#step || before.input.every((count) => count === 0));
  }
}
