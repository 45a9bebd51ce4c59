import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { toBlocks } from "../blocks.ts";
import { notice, withMetadata } from "../messages.ts";
import { UsageCounter, withUsage } from "../usage.ts";
import { asTimestamp } from "../values.ts";
import { type Cost, knowCost, type OtherCost, readCost } from "./costs.ts";
import { RequestIds, type SavedIds } from "./request-ids.ts";

export type SavedCosts = { usage: ReturnType<UsageCounter["save"]>; ids: SavedIds; others: OtherCost[] };

/** Counts what a session's answers used, each request once, and what other models used for them. */
export class AnswerCosts {
  readonly #counter: UsageCounter;
  readonly #ids: RequestIds;
  /** These stand with the advice that they paid for, or in a notice behind their answer. */
  #others: OtherCost[];

  /** @param saved what `save` returned @param beside the costs whose requests are numbered together with these */
  constructor(saved?: SavedCosts, beside?: AnswerCosts) {
    this.#counter = new UsageCounter(saved?.usage);
    this.#ids = beside ? beside.#ids : new RequestIds(saved?.ids);
    this.#others = [...(saved?.others ?? [])];
  }

  save(): SavedCosts {
    return { usage: this.#counter.save(), ids: this.#ids.save(), others: this.#others };
  }

  get total() {
    return this.#counter.total;
  }

  /** Notes the messages of a line that is no answer's. */
  hear(messages: Message[]): void {
    if (messages.some(({ role }) => role === "user" || role === "tool")) this.#ids.hear(messages.some(isSpoken));
  }

  /** Reads the cost in an answer's line. */
  read(record: Fields, isFirst: boolean): Cost {
    const { others = [], ...cost } = readCost(record, { counter: this.#counter, ids: this.#ids }, isFirst);
    const createdAt = asTimestamp(record.timestamp);
    for (const other of others) this.#others.push({ ...other, ...(createdAt && { createdAt }) });
    return cost;
  }

  /** Notes the cost in a copied line of an answer. */
  know(record: Fields): void {
    knowCost(record, { counter: this.#counter, ids: this.#ids });
  }

  /** Adds to the message with another model's advice what that used. @returns undefined where the message has none */
  addAdvice(message: Message, { message: answer }: Fields): Message | undefined {
    if (message.role !== "tool" || message.metadata?.usage !== undefined || this.#others.length === 0) return undefined;
    const blocks = toBlocks(isFields(answer) ? answer.content : undefined);
    const at = this.#others.findIndex(({ isAdvice }) => isAdvice);
    if (at === -1 || !blocks.some(({ type }) => type === "advisor_tool_result")) return undefined;
    const [other] = this.#others.splice(at, 1);
    return other && withOther(message, other);
  }

  /** Notices of what other models used for the answer that has ended, and said nothing. */
  takeOthers(): Message[] {
    if (this.#others.length === 0) return [];
    return this.#others.splice(0).map((other) => {
      const message = withMetadata(notice(`Answered by ${other.model}, too`), { subtype: "other_model" });
      return withOther(other.createdAt ? { ...message, createdAt: other.createdAt } : message, other);
    });
  }
}

const withOther = (message: Message, { model, requestId, usage }: OtherCost): Message =>
  withUsage(withMetadata(message, { model, requestId }), usage);

/** Tells whether a person speaks, rather than a tool or the program. An interruption is a part of the answer that it ends. */
const isSpoken = ({ role, content, metadata }: Message): boolean =>
  role === "user" && metadata?.kind === undefined && !content.startsWith("[Request interrupted");
