import { isDeepStrictEqual } from "node:util";
import { type Fields, isFields } from "../../files/json.ts";
import { addUsage, readTokens, type Usage } from "../usage.ts";
import { asString } from "../values.ts";

export type UsedRequest = { usage: Usage; model?: string; requestId?: string; stopReason?: string };

export class RecordedRequests {
  readonly #seen = new Set<string>();
  readonly #left = new Map<string, UsedRequest>();
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

  /** Some versions only record these requests with the compaction. */
  addCompaction({ compactionTokensUsed: used, requestId, serviceRequestId }: Fields): void {
    if (!this.isRecorded || !isFields(used)) return;
    const usage = readTotals(used);
    const ids = [requestId, serviceRequestId];
    const { reasoningTokens: _, ...compared } = usage;
    const isSame = (one: UsedRequest) =>
      isDeepStrictEqual({ ...one.usage, ...compared }, one.usage) ||
      (one.requestId !== undefined && ids.includes(one.requestId));
    if ([...this.#left.values()].some(isSame)) return;
    const model = asString(used.model);
    this.#left.set(`compaction-${this.#left.size}`, { usage, ...(model && { model }) });
  }

  has(apiCallId: unknown): boolean {
    return this.#seen.has(asString(apiCallId) ?? "");
  }

  claim(apiCallId: unknown): UsedRequest | undefined {
    const id = asString(apiCallId) ?? "";
    const request = this.#left.get(id);
    this.#left.delete(id);
    return request;
  }

  listRemaining(): { model: string | undefined; usage: Usage }[] {
    const sums = new Map<string | undefined, Usage>();
    for (const { model, usage } of this.#left.values()) sums.set(model, addUsage(sums.get(model) ?? {}, usage));
    this.#left.clear();
    return [...sums].map(([model, usage]) => ({ model, usage }));
  }
}

export function readTotals(usage: Fields): Usage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const reported = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens };
  return readTokens(reported, { includesCache: true });
}
