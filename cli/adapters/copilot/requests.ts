import { isDeepStrictEqual } from "node:util";
import { type Fields, isFields } from "../../files/json.ts";
import { addUsage, readTokens, type Usage } from "../usage.ts";
import { asString } from "../values.ts";

/** A recorded request to a model. Its `cost` counts premium requests, and is no price. */
export type UsedRequest = { usage: Usage; model?: string; requestId?: string; stopReason?: string };

/** Newer versions record each request before its answer. */
export class Requests {
  readonly #seen = new Set<string>();
  readonly #left = new Map<string, UsedRequest>();
  /** Requests were recorded since the last run ended, so that their sum is not new. */
  isRecorded = false;

  add({ usage }: Fields): void {
    if (!isFields(usage)) return;
    this.isRecorded = true;
    const id = asString(usage.apiCallId) ?? `request-${this.#seen.size}`;
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const [model, requestId, stopReason] = [usage.model, usage.providerCallId, usage.finishReason].map(asString);
    this.#left.set(id, {
      usage: readTotals(usage),
      ...(model && { model }),
      ...(requestId && { requestId }),
      ...(stopReason && { stopReason }),
    });
  }

  /** Some versions record a compaction's requests with the compaction alone. */
  addCompaction({ compactionTokensUsed: used, requestId, serviceRequestId }: Fields): void {
    if (!this.isRecorded || !isFields(used)) return;
    const usage = readTotals(used);
    const ids = [requestId, serviceRequestId];
    const { reasoningTokens: _, ...told } = usage; // A compaction does not have them.
    const isSame = (one: UsedRequest) =>
      isDeepStrictEqual({ ...one.usage, ...told }, one.usage) ||
      (one.requestId !== undefined && ids.includes(one.requestId));
    if ([...this.#left.values()].some(isSame)) return;
    const model = asString(used.model);
    this.#left.set(`compaction-${this.#left.size}`, { usage, ...(model && { model }) });
  }

  has(apiCallId: unknown): boolean {
    return this.#seen.has(asString(apiCallId) ?? "");
  }

  /** Takes an answer's request once. */
  claim(apiCallId: unknown): UsedRequest | undefined {
    const id = asString(apiCallId) ?? "";
    const request = this.#left.get(id);
    this.#left.delete(id);
    return request;
  }

  /** Sums the requests that no answer has, such as those of a compaction, by model. */
  rest(): { model: string | undefined; usage: Usage }[] {
    const sums = new Map<string | undefined, Usage>();
    for (const { model, usage } of this.#left.values()) sums.set(model, addUsage(sums.get(model) ?? {}, usage));
    this.#left.clear();
    return [...sums].map(([model, usage]) => ({ model, usage }));
  }
}

/** Input includes cached tokens, output includes thoughts. */
export function readTotals(usage: Fields): Usage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const reported = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens };
  return readTokens(reported, { includesCache: true });
}
