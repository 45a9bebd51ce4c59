import { includedIn, kinds, type PriceKind, type Rates, rateAt, rounded } from "#lib/prices/rates";
import { type Asked, findTariff, type PricedBy } from "#lib/prices/tariff";

/** As in docs/trace-format.md: `inputTokens` exclude cached ones, `outputTokens` include `reasoningTokens`. */
export type TokenUsage = {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  /** The sum of the two below; without them, all count as five minutes'. */
  cacheWriteTokens?: number;
  cacheWrite5mTokens?: number;
  cacheWrite1hTokens?: number;
  reasoningTokens?: number;
};

export type PriceQuestion = Asked & {
  usage: TokenUsage;
  /**
   * Including cached tokens, if `usage` is only a part of the request, or the sum of requests of which none is known
   * to be long (0).
   */
  requestInputTokens?: number;
  webSearches?: number | null;
};

/** In nano-dollars; `split` adds up to `costNano`. */
export type Price = {
  costNano: bigint;
  split: { input: bigint; output: bigint; cacheRead: bigint; cacheWrite: bigint; other: bigint };
  by: PricedBy;
};

/** Undefined if the model has no price, which differs from a price of zero. */
export function computePrice(question: PriceQuestion): Price | undefined {
  const tariff = findTariff(question);
  const counts = countKinds(question);
  if (!tariff || !covers(tariff.rates, counts)) return undefined;
  const ownInput = counts.input + counts.cacheRead + counts.cacheWrite5m + counts.cacheWrite1h;
  const totalInput = question.requestInputTokens ?? ownInput;
  const cost = (kind: PriceKind): bigint => {
    const rate = rateFor(tariff.rates, kind);
    return rate && counts[kind] > 0 ? rateAt(rate, totalInput) * BigInt(counts[kind]) : 0n;
  };
  const parts = {
    input: cost("input"),
    output: cost("output") + cost("reasoning"),
    cacheRead: cost("cacheRead"),
    cacheWrite: cost("cacheWrite5m") + cost("cacheWrite1h"),
    other: cost("webSearch") + cost("request"),
  };
  return { ...wholeNano(parts), by: tariff.by };
}

/** Rounds the running sum, so that the parts add up to the rounded total. */
function wholeNano(parts: Price["split"]): Pick<Price, "costNano" | "split"> {
  const split = { ...parts };
  let [sum, given] = [0n, 0n];
  for (const name of Object.keys(split) as (keyof Price["split"])[]) {
    sum += parts[name];
    split[name] = rounded(sum) - given;
    given += split[name];
  }
  return { costNano: given, split };
}

const whole = (value: number | null | undefined): number =>
  value != null && Number.isSafeInteger(value) && value > 0 ? value : 0;

/** Counts each token once: reasoning without other output, one hour's cache writes without five minutes'. */
function countKinds({ usage, webSearches }: PriceQuestion): Record<PriceKind, number> {
  const reasoning = Math.min(whole(usage.reasoningTokens), whole(usage.outputTokens));
  const cacheWrite1h = whole(usage.cacheWrite1hTokens);
  return {
    input: whole(usage.inputTokens),
    output: whole(usage.outputTokens) - reasoning,
    reasoning,
    cacheRead: whole(usage.cacheReadTokens),
    cacheWrite5m: Math.max(whole(usage.cacheWrite5mTokens), whole(usage.cacheWriteTokens) - cacheWrite1h),
    cacheWrite1h,
    webSearch: whole(webSearches),
    request: 1,
  };
}

function rateFor(rates: Rates, kind: PriceKind): Rates[PriceKind] {
  const parent = includedIn[kind];
  return rates[kind] ?? (parent && rateFor(rates, parent));
}

/** A web search without a price is left out, since it has no tokens. */
const covers = (rates: Rates, counts: Record<PriceKind, number>): boolean =>
  kinds.every((kind) => kind === "webSearch" || kind === "request" || counts[kind] === 0 || rateFor(rates, kind));
