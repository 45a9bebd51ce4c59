import type { Fields } from "../../files/json.ts";
import { asString } from "../values.ts";

const maxPrompts = 50;

export type SavedQueue = { waiting: string[]; taken: string[]; ahead: number };

/**
 * A prompt that leaves the queue is repeated as a `user` line or an attachment, except in versions without
 * attachments, or if the user took it back.
 */
export class PromptQueue {
  readonly #waiting: string[];
  readonly #taken: string[];
  #ahead: number;

  constructor(saved?: SavedQueue) {
    this.#waiting = [...(saved?.waiting ?? [])];
    this.#taken = [...(saved?.taken ?? [])];
    this.#ahead = saved?.ahead ?? 0;
  }

  save(): SavedQueue {
    return { waiting: this.#waiting, taken: this.#taken, ahead: this.#ahead };
  }

  read({ operation, content }: Fields): void {
    const text = asString(content);
    if (operation === "enqueue") {
      if (text !== undefined) this.#waiting.push(text);
      if (this.#waiting.length > maxPrompts) this.#waiting.shift();
    } else if (operation === "dequeue") this.#waiting.shift();
    else if (operation === "popAll") this.#waiting.length = 0;
    else if (operation === "remove") this.#take(text);
  }

  #take(text: string | undefined): void {
    if (text === undefined && this.#ahead > 0) {
      this.#ahead--;
      return;
    }
    const at = text === undefined ? 0 : this.#waiting.indexOf(text);
    const [removed] = at === -1 ? [] : this.#waiting.splice(at, 1);
    if (at === -1 && this.#ahead > 0) this.#ahead--;
    if (removed !== undefined && !isNotice(removed)) this.#taken.push(removed);
  }

  notePrompt(text: string): void {
    if (isNotice(text)) return;
    const taken = this.#taken.indexOf(text);
    if (taken !== -1 || this.#taken.length > 0) {
      this.#taken.splice(Math.max(taken, 0), 1);
      return;
    }
    const waiting = this.#waiting.indexOf(text);
    if (waiting === -1) return;
    this.#waiting.splice(waiting, 1);
    this.#ahead++;
  }

  takeLost(): string[] {
    return this.#taken.splice(0);
  }
}

const isNotice = (text: string): boolean => text.startsWith("<task-notification>");
