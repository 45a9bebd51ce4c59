import { type Fields, isFields } from "../../files/json.ts";
import { addUsage, readTokens, subtractUsage, type Usage } from "../usage.ts";
import { asFields, asString } from "../values.ts";

type SavedLedger = { total: Usage | undefined; recorded: Usage | undefined };

/** A total only counts what it grew beyond the records before it. */
export class TokenLedger {
  #total: Usage | undefined;
  #recorded: Usage | undefined;

  constructor(saved?: SavedLedger) {
    this.#total = saved?.total;
    this.#recorded = saved?.recorded;
  }

  save(): SavedLedger {
    return { total: this.#total, recorded: this.#recorded };
  }

  addRecord(reported: unknown): Usage | undefined {
    if (!isFields(reported)) return undefined;
    const usage = readUsage(reported);
    this.#recorded = addUsage(usage, this.#recorded ?? {});
    return usage;
  }

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

export const findTier = (...places: unknown[]): string | undefined =>
  places.map((place) => asString(asFields(place).service_tier)).find(Boolean);

function computeGrowth(now: Usage, before: Usage | undefined, last: Usage | undefined, isContinued: boolean): Usage {
  if (!before) return (isContinued && last) || now;
  const hasRestarted = sumInput(now) < sumInput(before) || (now.outputTokens ?? 0) < (before.outputTokens ?? 0);
  // A total that equals the last request was reset.
  const isOneRequest = last !== undefined && isSame(last, now) && !isSame(now, before);
  return hasRestarted || isOneRequest ? now : subtractUsage(now, before);
}

const sumInput = ({ inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage): number =>
  inputTokens + cacheReadTokens + cacheWriteTokens;

const isSame = (a: Usage, b: Usage): boolean => sumInput(a) === sumInput(b) && a.outputTokens === b.outputTokens;

function readUsage(usage: Fields): Usage {
  return readTokens(
    {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cacheReadTokens: usage.cached_input_tokens,
      cacheWriteTokens: usage.cache_write_input_tokens,
      reasoningTokens: usage.reasoning_output_tokens,
    },
    { includesCache: true },
  );
}
