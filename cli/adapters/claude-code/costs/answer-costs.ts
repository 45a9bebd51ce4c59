import type { Fields } from "../../../files/json.ts";
import type { Message } from "../../adapter.ts";
import { toBlocks } from "../../blocks.ts";
import { makeNotice, withMetadata } from "../../messages.ts";
import { UsageCounter, withUsage } from "../../usage.ts";
import { asFields, asTimestamp } from "../../values.ts";
import { type Cost, knowCost, type OtherCost, readCost } from "./costs.ts";
import { RequestIds, type SavedIds } from "./request-ids.ts";

export type SavedCosts = { usage: ReturnType<UsageCounter["save"]>; ids: SavedIds; others: OtherCost[] };

export class AnswerCosts {
  readonly #counter: UsageCounter;
  readonly #ids: RequestIds;
  /** Costs of other models, shown with their advice or in a notice after the answer. */
  #others: OtherCost[];

  constructor(saved?: SavedCosts, main?: AnswerCosts) {
    this.#counter = new UsageCounter(saved?.usage);
    this.#ids = main ? main.#ids : new RequestIds(saved?.ids);
    this.#others = [...(saved?.others ?? [])];
  }

  save(): SavedCosts {
    return { usage: this.#counter.save(), ids: this.#ids.save(), others: this.#others };
  }

  get total() {
    return this.#counter.total;
  }

  noteMessages(messages: Message[]): void {
    if (messages.some(({ role }) => role === "user" || role === "tool")) this.#ids.noteStep(messages.some(isPrompt));
  }

  read(record: Fields, isFirst: boolean): Cost {
    const { others = [], ...cost } = readCost(record, { counter: this.#counter, ids: this.#ids }, isFirst);
    const createdAt = asTimestamp(record.timestamp);
    for (const other of others) this.#others.push({ ...other, ...(createdAt && { createdAt }) });
    return cost;
  }

  know(record: Fields): void {
    knowCost(record, { counter: this.#counter, ids: this.#ids });
  }

  addAdvice(message: Message, { message: answer }: Fields): Message | undefined {
    if (message.role !== "tool" || message.metadata?.usage !== undefined || this.#others.length === 0) return undefined;
    const blocks = toBlocks(asFields(answer).content);
    const at = this.#others.findIndex(({ isAdvice }) => isAdvice);
    if (at === -1 || !blocks.some(({ type }) => type === "advisor_tool_result")) return undefined;
    const [other] = this.#others.splice(at, 1);
    return other && withOther(message, other);
  }

  takeOthers(): Message[] {
    if (this.#others.length === 0) return [];
    return this.#others.splice(0).map((other) => {
      const message = withMetadata(makeNotice(`Answered by ${other.model}, too`), { subtype: "other_model" });
      return withOther(other.createdAt ? { ...message, createdAt: other.createdAt } : message, other);
    });
  }
}

const withOther = (message: Message, { model, requestId, usage }: OtherCost): Message =>
  withUsage(withMetadata(message, { model, requestId }), usage);

/** An interruption is part of the answer that it ends. */
const isPrompt = ({ role, content, metadata }: Message): boolean =>
  role === "user" && metadata?.kind === undefined && !content.startsWith("[Request interrupted");
