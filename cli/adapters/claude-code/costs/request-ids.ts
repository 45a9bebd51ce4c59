import type { Usage } from "../../usage.ts";
import { dropOldest } from "../../values.ts";

type Seen = { number: number; turn: number; step: number; model: string | undefined; input: number[] };
export type SavedIds = { turn: number; step: number; seen: [string, Seen][] };

const maxIds = 1000;

/**
 * Gateways reuse ids or write none. Lines belong to one request if id, model and input are equal and no other message
 * came between them; the input may grow in consecutive lines.
 */
export class RequestIds {
  #turn: number;
  #step: number;
  readonly #seen: Map<string, Seen>;

  constructor(saved?: SavedIds) {
    this.#turn = saved?.turn ?? 0;
    this.#step = saved?.step ?? 0;
    this.#seen = new Map(saved?.seen);
  }

  save(): SavedIds {
    return { turn: this.#turn, step: this.#step, seen: [...this.#seen] };
  }

  /** Notes a line of the user's. @param isPrompt false for results of tools */
  noteStep(isPrompt: boolean): void {
    if (isPrompt) this.#turn++;
    this.#step++;
  }

  /** @param id empty if there is none */
  countRequests(id: string, usage: Usage, model: string | undefined): number {
    const input = [usage.inputTokens ?? 0, usage.cacheReadTokens ?? 0, usage.cacheWriteTokens ?? 0];
    const before = this.#seen.get(id);
    const isSame = before?.model === model && before !== undefined && this.#isSame(before, input, id !== "");
    const number = (before?.number ?? 0) + (isSame ? 0 : 1);
    this.#seen.set(id, { number, turn: this.#turn, step: this.#step, model, input });
    dropOldest(this.#seen, maxIds);
    return number;
  }

  #isSame(before: Seen, input: number[], hasId: boolean): boolean {
    if (before.turn !== this.#turn) return false;
    if (input.every((count, side) => count === before.input[side])) return true;
    // The first lines of a stream may be written before all of the input was counted.
    const grows = input.every((count, side) => count >= (before.input[side] ?? 0));
    return hasId && grows && (before.step === this.#step || before.input.every((count) => count === 0));
  }
}
