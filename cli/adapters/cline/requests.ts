import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readTokens, sumUsage, type Usage } from "../usage.ts";
import { asCount, asString, toWords } from "../values.ts";

export type RequestUsage = { usage?: Usage; costUsd?: number };

export type ApiRequest = RequestUsage & {
  at: number | undefined;
  /** The number of messages in the conversation before it, less one. */
  index: number | undefined;
  isAnswered: boolean;
};

const tokenFields = ["tokensIn", "tokensOut", "cacheWrites", "cacheReads"] as const;

/** Providers of Cline's whose input tokens include cached ones. */
const inclusive = toWords("openai litellm fireworks hicap doubao qwen xai zai requesty lmstudio oca huawei-cloud-maas");

export const countsCacheAsInput = (providerId: unknown): boolean => inclusive.has(asString(providerId) ?? "");

export function readUsed({ text, modelInfo }: Fields): RequestUsage {
  const parsed = typeof text === "string" ? parseJson(text) : undefined;
  if (!isFields(parsed)) return {};
  const costUsd = typeof parsed.cost === "number" && parsed.cost >= 0 ? parsed.cost : undefined;
  const hasTokens = tokenFields.some((field) => asCount(parsed[field]) !== undefined);
  return {
    ...(hasTokens && {
      usage: readTaskTokens(parsed, isFields(modelInfo) && countsCacheAsInput(modelInfo.providerId)),
    }),
    ...(costUsd !== undefined && { costUsd }),
  };
}

/** Depends on the provider, and on whether a newer Roo Code names the protocol. */
function readTaskTokens(parsed: Fields, isInclusive: boolean): Usage {
  const usage = {
    inputTokens: parsed.tokensIn,
    outputTokens: parsed.tokensOut,
    cacheReadTokens: parsed.cacheReads,
    cacheWriteTokens: parsed.cacheWrites,
  };
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = readTokens(usage);
  const isWithin = inputTokens >= cacheReadTokens + cacheWriteTokens;
  return readTokens(usage, { includesCache: isWithin && (isInclusive || parsed.apiProtocol !== undefined) });
}

export function sumUsed(all: readonly RequestUsage[]): RequestUsage {
  const usages = all.flatMap(({ usage }) => usage ?? []);
  const costs = all.flatMap(({ costUsd }) => costUsd ?? []);
  return {
    ...(usages.length > 0 && { usage: usages.reduce(sumUsage, {}) }),
    ...(costs.length > 0 && { costUsd: costs.reduce((sum, cost) => sum + cost, 0) }),
  };
}

export const usedKinds = new Set(["api_req_started", "api_req_finished", "deleted_api_reqs", "subagent_usage"]);

/** The first message has the index -1. */
const asIndex = (value: unknown): number | undefined => (value === -1 ? -1 : asCount(value));

export class TaskRequests {
  readonly all: ApiRequest[] = [];
  readonly #times = new Map<number, number>();
  model: string | undefined;
  firstText: string | undefined;
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
      const parsed = typeof message.text === "string" ? parseJson(message.text) : undefined;
      const used = readUsed(message);
      const hasEnded = isFields(parsed) && parsed.cancelReason === undefined && (used.usage?.outputTokens ?? 0) > 0;
      this.all.push({ at, index, isAnswered: kind === "api_req_started" && hasEnded, ...used });
    }
    if (index !== undefined && at !== undefined && !this.#times.has(index + 1)) this.#times.set(index + 1, at);
  }

  getTime(index: number): number | undefined {
    return this.#times.get(index);
  }

  claim(index: number, at: number | undefined): RequestUsage {
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

  sumRemaining(): RequestUsage {
    const left = this.all.slice(this.#claimed);
    this.#claimed = this.all.length;
    return sumUsed(left);
  }
}
