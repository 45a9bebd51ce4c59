import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";

/** What one request, or several, used and cost. */
export type Used = { usage?: Usage; costUsd?: number };

/** A request to a model, as the display's messages tell it. */
export type ApiRequest = Used & {
  at: number | undefined;
  /** How many messages the conversation had before it, less one. */
  index: number | undefined;
  /** Whether an answer came. */
  isAnswered: boolean;
};

const tokenFields = ["tokensIn", "tokensOut", "cacheWrites", "cacheReads"] as const;

/** Providers of Cline's whose input tokens include those of the cache; of the others they are apart. */
const inclusive = new Set(
  "openai litellm fireworks hicap doubao qwen xai zai requesty lmstudio oca huawei-cloud-maas".split(" "),
);

export const countsCacheAsInput = (providerId: unknown): boolean => inclusive.has(asString(providerId) ?? "");

/** What a request's message tells in its text. */
export function readUsed({ text, modelInfo }: Fields): Used {
  const told = typeof text === "string" ? parseJson(text) : undefined;
  if (!isFields(told)) return {};
  const costUsd = typeof told.cost === "number" && told.cost >= 0 ? told.cost : undefined;
  const hasTokens = tokenFields.some((field) => asCount(told[field]) !== undefined);
  return {
    ...(hasTokens && { usage: readTokens(told, isFields(modelInfo) && countsCacheAsInput(modelInfo.providerId)) }),
    ...(costUsd !== undefined && { costUsd }),
  };
}

/** Tokens of the cache are among `tokensIn` with some providers, and where a newer Roo Code names the protocol. */
function readTokens(told: Fields, isInclusive: boolean): Usage {
  const [tokensIn = 0, outputTokens = 0, cacheWriteTokens = 0, cacheReadTokens = 0] = tokenFields.map(
    (field) => asCount(told[field]) ?? 0,
  );
  const cached = cacheWriteTokens + cacheReadTokens;
  const isWithin = (isInclusive || told.apiProtocol !== undefined) && tokensIn >= cached;
  return {
    inputTokens: isWithin ? tokensIn - cached : tokensIn,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

/** The sum of what was used. */
export function sumUsed(all: readonly Used[]): Used {
  const usage: Usage = {};
  for (const one of all) {
    for (const [field, count] of Object.entries(one.usage ?? {}) as [keyof Usage, number][]) {
      usage[field] = (usage[field] ?? 0) + count;
    }
  }
  const costs = all.flatMap(({ costUsd }) => costUsd ?? []);
  return {
    ...(all.some((one) => one.usage) && { usage }),
    ...(costs.length > 0 && { costUsd: costs.reduce((sum, cost) => sum + cost, 0) }),
  };
}

/** Kinds of messages that tell what a request used. */
export const usedKinds = new Set(["api_req_started", "api_req_finished", "deleted_api_reqs", "subagent_usage"]);

/** The first message has none before it: -1. */
const asIndex = (value: unknown): number | undefined => (value === -1 ? -1 : asCount(value));

/** What the display's messages tell of a task's requests: collected in a first pass. */
export class Requests {
  readonly all: ApiRequest[] = [];
  /** When the conversation's messages were there, by their indexes. */
  readonly #times = new Map<number, number>();
  model: string | undefined;
  firstText: string | undefined;
  /** Whether the conversation was replaced by a summary of it. */
  isCondensed = false;
  #claimed = 0;

  add(message: Fields): void {
    const at = asCount(message.ts);
    const index = asIndex(message.conversationHistoryIndex);
    const kind = asString(message.say) ?? asString(message.ask) ?? "";
    if (isFields(message.modelInfo)) this.model = asString(message.modelInfo.modelId) ?? this.model;
    if (kind === "text" || kind === "task") this.firstText ??= asString(message.text);
    if (kind === "condense_context") this.isCondensed = true;
    if (usedKinds.has(kind)) {
      const told = typeof message.text === "string" ? parseJson(message.text) : undefined;
      const used = readUsed(message);
      const hasEnded = isFields(told) && told.cancelReason === undefined && (used.usage?.outputTokens ?? 0) > 0;
      this.all.push({ at, index, isAnswered: kind === "api_req_started" && hasEnded, ...used });
      if (index !== undefined && at !== undefined && !this.#times.has(index + 1)) this.#times.set(index + 1, at);
    } else if (index !== undefined && at !== undefined && !this.#times.has(index + 1)) {
      this.#times.set(index + 1, at);
    }
  }

  /** When a message of the conversation was sent or came. */
  getTime(index: number): number | undefined {
    return this.#times.get(index);
  }

  /**
   * What the requests up to an answer used that no earlier answer has: by its index, else its time, else the order.
   *
   * @param index of the answer in the conversation
   */
  claim(index: number, at: number | undefined): Used {
    const left = this.all.slice(this.#claimed);
    const byIndex = left.findLastIndex((one) => one.index !== undefined && one.index <= index - 2);
    const byTime = at === undefined ? -1 : left.findLastIndex((one) => one.at !== undefined && one.at <= at);
    const hasIndexes = left.some((one) => one.index !== undefined);
    const next = left.findIndex((one) => one.isAnswered);
    const found = hasIndexes ? byIndex : at !== undefined ? byTime : next;
    const claimed = left.slice(0, found + 1);
    this.#claimed += claimed.length;
    return sumUsed(claimed);
  }

  /** What the requests used that no answer has. */
  rest(): Used {
    const left = this.all.slice(this.#claimed);
    this.#claimed = this.all.length;
    return sumUsed(left);
  }
}
