import type { Fields } from "../../files/json.ts";
import { asString } from "../values.ts";

const maxPrompts = 50;

export type SavedQueue = { waiting: string[]; taken: string[]; ahead: number };

/**
 * Collects what the user typed while the agent worked, from `queue-operation` lines. A prompt that leaves the queue
 * comes again as a `user` line (`dequeue`) or an attachment (`remove`), except in versions without attachments, or if
 * the user took it back.
 */
export class PromptQueue {
  readonly #waiting: string[];
  readonly #taken: string[];
  /** Counts the prompts that came before the line that takes them from the queue. */
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

  /** Notes a prompt with a line of its own; its text may differ if something was pasted. */
  sawPrompt(text: string): void {
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

  /** Takes the prompts that left the queue and came nowhere else, once the agent continues. */
  takeLost(): string[] {
    return this.#taken.splice(0);
  }
}

/** The program's own notices wait in the same queue, and always have lines of their own. */
const isNotice = (text: string): boolean => text.startsWith("<task-notification>");
