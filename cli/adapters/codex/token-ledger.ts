import { type Fields, isFields } from "../../files/json.ts";
import { addUsage, subtractUsage, type Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";

type SavedLedger = { total: Usage | undefined; recorded: Usage | undefined };

/**
 * Counts each request of a rollout once. Newer versions write a record for each request, and all of them the session's running
 * total, which is repeated whenever something else changes: a total counts only by what it grew beyond the records before it.
 */
export class TokenLedger {
  /** The running total as last reported. */
  #total: Usage | undefined;
  /** What the records since that total counted. */
  #recorded: Usage | undefined;

  /** @param saved what `save` returned */
  constructor(saved?: SavedLedger) {
    this.#total = saved?.total;
    this.#recorded = saved?.recorded;
  }

  save(): SavedLedger {
    return { total: this.#total, recorded: this.#recorded };
  }

  /** @returns what a request's own record adds */
  addRecord(reported: unknown): Usage | undefined {
    if (!isFields(reported)) return undefined;
    const usage = readUsage(reported);
    this.#recorded = addUsage(usage, this.#recorded ?? {});
    return usage;
  }

  /**
   * @param isContinued whether the session took over another one's total
   * @returns what a report of the running total adds
   */
  addTotal(info: Fields, isContinued: boolean): Usage | undefined {
    if (!isFields(info.total_token_usage)) return undefined;
    const now = readUsage(info.total_token_usage);
    const last = isFields(info.last_token_usage) ? readUsage(info.last_token_usage) : undefined;
    const [before, recorded] = [this.#total, this.#recorded];
    this.#total = now;
    this.#recorded = undefined;
    const grown = computeGrowth(now, before, last, isContinued);
    return recorded ? subtractUsage(grown, recorded) : grown;
  }
}

/** The service tier that a request's own report names, in the first of the places that has one. */
export const findTier = (...places: unknown[]): string | undefined =>
  places.map((place) => (isFields(place) ? asString(place.service_tier) : undefined)).find(Boolean);

function computeGrowth(now: Usage, before: Usage | undefined, last: Usage | undefined, isContinued: boolean): Usage {
  if (!before) return (isContinued && last) || now;
  const hasRestarted = sumInput(now) < sumInput(before) || (now.outputTokens ?? 0) < (before.outputTokens ?? 0);
  // A total that is the last request alone has begun anew, also where that request is larger than all before.
  const isOneRequest = last !== undefined && isSame(last, now) && !isSame(now, before);
  return hasRestarted || isOneRequest ? now : subtractUsage(now, before);
}

const sumInput = ({ inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage): number =>
  inputTokens + cacheReadTokens + cacheWriteTokens;

const isSame = (a: Usage, b: Usage): boolean => sumInput(a) === sumInput(b) && a.outputTokens === b.outputTokens;

/** Input includes what was read from the cache and written into it. */
function readUsage(usage: Fields): Usage {
  const count = (value: unknown) => asCount(value) ?? 0;
  const [cacheReadTokens, cacheWriteTokens] = [usage.cached_input_tokens, usage.cache_write_input_tokens].map(
    count,
  ) as [number, number];
  return {
    inputTokens: Math.max(0, count(usage.input_tokens) - cacheReadTokens - cacheWriteTokens),
    outputTokens: count(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: count(usage.reasoning_output_tokens),
  };
}
