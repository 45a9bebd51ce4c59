import type { Message } from "../adapter.ts";

export type SavedAnswer = {
  id?: string;
  index?: unknown;
  texts: string[];
  calls: string[];
  told: Record<string, unknown>;
};

/** An answer's lines have its `id`, and some writers repeat earlier blocks in each of them; each block counts once. */
export class AnswerTracker {
  #id: string | undefined;
  #texts: Set<string>;
  /** Relatives of Claude Code repeat calls under another answer's id. */
  #calls: Set<string>;
  #last: Message | undefined;
  /** The input of a call that was the last message may follow in the next line. */
  #lastCall: Message | undefined;
  #index: unknown;
  #sent: Record<string, unknown>;

  constructor(saved?: SavedAnswer) {
    this.#id = saved?.id;
    this.#index = saved?.index;
    this.#texts = new Set(saved?.texts);
    this.#calls = new Set(saved?.calls);
    this.#sent = { ...saved?.told };
  }

  save(): SavedAnswer {
    const lists = { texts: [...this.#texts], calls: [...this.#calls] };
    return { ...(this.#id && { id: this.#id }), index: this.#index, ...lists, told: this.#sent };
  }

  /** An answer with several calls may continue after a line of the user's. */
  pause(): void {
    this.#last = undefined;
    this.#lastCall = undefined;
    // A cleared set would keep what comes next alive until V8 collects its old space.
    if (this.#texts.size > 0) this.#texts = new Set();
    if (this.#calls.size > 0) this.#calls = new Set();
  }

  /**
   * Returns whether the line begins another answer.
   *
   * @param index the block's index in the answer, if the line has it
   */
  begin(id: string | undefined, index: unknown): boolean {
    const isSame = id !== undefined && id === this.#id;
    if (!isSame || (typeof index === "number" && index !== this.#index)) {
      if (this.#texts.size > 0) this.#texts = new Set();
      this.#last = undefined;
      this.#lastCall = undefined;
    }
    this.#id = id;
    this.#index = index;
    if (!isSame) this.#sent = {};
    return !isSame;
  }

  readChanges(facts: Record<string, unknown>): Record<string, unknown> {
    const changed: Record<string, unknown> = {};
    for (const name in facts) {
      const value = facts[name];
      if (value === undefined || isSame(this.#sent[name], value)) continue;
      this.#sent[name] = value;
      changed[name] = value;
    }
    return changed;
  }

  /** `known` is a repetition, and `longer` extends the last message. */
  compare(message: Message): "new" | "known" | "longer" {
    const tool = message.metadata?.tool;
    const { callId } = getTool(message);
    if (typeof callId === "string") {
      if (this.#calls.has(callId)) return this.#canGrowTo(message, callId) ? "longer" : "known";
      this.#calls.add(callId);
      this.#last = undefined;
      this.#lastCall = message;
      return "new";
    }
    if (tool !== undefined || message.metadata?.result !== undefined || this.#id === undefined) return "new";
    const key = makeTextKey(message);
    if (this.#texts.has(key)) return "known";
    this.#texts.add(key);
    this.#lastCall = undefined;
    const before = this.#last;
    this.#last = message;
    const isLonger =
      before?.metadata?.kind === message.metadata?.kind && message.content.startsWith(before?.content ?? "");
    return before && isLonger ? "longer" : "new";
  }

  #canGrowTo(message: Message, callId: string): boolean {
    const before = getTool(this.#lastCall);
    if (before.callId !== callId || measureInput(before.input) >= measureInput(getTool(message).input)) return false;
    this.#lastCall = message;
    return true;
  }
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof other === "object" && JSON.stringify(one) === JSON.stringify(other));

type ToolMetadata = { callId?: unknown; input?: unknown };

const getTool = (message: Message | undefined): ToolMetadata => {
  const tool = message?.metadata?.tool;
  return typeof tool === "object" && tool !== null ? tool : {};
};

const measureInput = (input: unknown): number => JSON.stringify(input)?.length ?? 0;

const makeTextKey = ({ content, metadata }: Message): string =>
  `${metadata?.kind ?? ""}:${content.length}:${content.slice(0, 64)}:${content.slice(-64)}`;

export function growMessage(before: Message | undefined, { content, metadata }: Message): Message {
  const tool = metadata?.tool;
  return { ...before, content, ...(tool !== undefined && { metadata: { ...before?.metadata, tool } }) };
}
