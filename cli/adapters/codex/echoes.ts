import type { Fields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { listReasoningTexts } from "./items.ts";

type EchoKind = "question" | "answer" | "thought";

/**
 * An event that no item repeats is a separate message: a raw thought, or a turn of a version that wrote no item for
 * it.
 */
export class Echoes {
  readonly #waiting: Record<EchoKind, Message[]> = { question: [], answer: [], thought: [] };
  readonly #has = { question: false, answer: false };
  #thoughts = new Set<string>();

  get isWaiting(): boolean {
    return Object.values(this.#waiting).some((messages) => messages.length > 0);
  }

  seeEvent(kind: EchoKind, message: Message): void {
    const isKnown = kind === "thought" ? this.#thoughts.has(message.content) : this.#has[kind];
    if (!isKnown) this.#waiting[kind].push(message);
  }

  /** Returns the earlier messages that the item does not repeat. */
  seeItem(item: Fields, messages: Message[]): Message[] {
    if (item.type === "reasoning") {
      this.#thoughts = new Set(listReasoningTexts(item));
      this.#waiting.thought = this.#waiting.thought.filter(({ content }) => !this.#thoughts.has(content));
      return [];
    }
    if (messages.some(({ role, metadata }) => role === "user" && !metadata?.kind)) {
      const remaining = this.endTurn();
      this.#has.question = true;
      const isRepeated = (text: string) => messages.some(({ content }) => content.includes(text.trim()));
      return remaining.filter(({ role, content }) => role !== "user" || !isRepeated(content));
    }
    if (messages.length === 0 || messages.every(({ metadata }) => metadata?.kind === "notice")) return [];
    if (messages.some(({ role, metadata }) => role === "assistant" && !metadata)) {
      this.#has.answer = true;
      this.#waiting.answer = [];
    }
    return [...this.#take("question"), ...this.#take("thought")];
  }

  endTurn(): Message[] {
    this.#has.question = false;
    this.#has.answer = false;
    return [...this.#take("question"), ...this.#take("thought"), ...this.#take("answer")];
  }

  #take(kind: EchoKind): Message[] {
    return this.#waiting[kind].splice(0);
  }
}
