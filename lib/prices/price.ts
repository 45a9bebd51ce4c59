import { changesInADay, listed } from "#lib/prices/catalog";
import { decimal, one, rounded } from "#lib/prices/exact";
import { modelOf } from "#lib/prices/model";
import { type Kind, kinds, type Rates, rateAt, ratesFrom, ratesOf, scaled } from "#lib/prices/rates";
import { tierOf } from "#lib/prices/tiers";

/** Tokens as docs/trace-format.md has them: `inputTokens` without cached ones, `outputTokens` with `reasoningTokens`. */
export type TokenUsage = {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  /** The sum of both, where the agent tells them apart; else all count as written for five minutes. */
  cacheWriteTokens?: number;
  cacheWrite5mTokens?: number;
  cacheWrite1hTokens?: number;
  reasoningTokens?: number;
};

export type PriceQuestion = {
  model: string;
  provider?: string;
  /** The agent. */
  source: string;
  /** When the message was written: prices are as of then. */
  at: Date;
  serviceTier?: string | null;
  speed?: string | null;
  usage: TokenUsage;
  webSearches?: number | null;
};

/** What priced a request. */
export type PricedBy = {
  provider: string;
  model: string;
  /** The tier that it is priced as, and the one that it was served at where that has no known price. */
  tier: string;
  unknownTier?: string;
};

/** Whole nano-dollars. The split's parts add up to the total. */
export type Price = {
  costNano: bigint;
  split: { input: bigint; output: bigint; cacheRead: bigint; cacheWrite: bigint; other: bigint };
  by: PricedBy;
};

type Tariff = { rates: Rates; by: PricedBy };

/** What a request cost; undefined where its model has no price, which is not a price of zero. */
export function priceOf(question: PriceQuestion): Price | undefined {
  const tariff = tariffOf(question);
  const counts = countsOf(question);
  if (!tariff || !covers(tariff.rates, counts)) return undefined;
  const totalInput = counts.input + counts.cacheRead + counts.cacheWrite5m + counts.cacheWrite1h;
  const cost = (kind: Kind): bigint => {
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

/** Rounded along the running sum: each part is whole, and together they are the rounded total. */
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

/** Each token once: reasoning apart from the rest of the output, one hour's cache writes apart from five minutes'. */
function countsOf({ usage, webSearches }: PriceQuestion): Record<Kind, number> {
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

/** What has no price of its own costs what it is a part of. */
const partOf: Partial<Record<Kind, Kind>> = {
  reasoning: "output",
  cacheRead: "input",
  cacheWrite5m: "input",
  cacheWrite1h: "cacheWrite5m",
};

function rateFor(rates: Rates, kind: Kind): Rates[Kind] {
  const parent = partOf[kind];
  return rates[kind] ?? (parent && rateFor(rates, parent));
}

/** Whether all tokens of a request have a price. A web search without one is left out, since its tokens are not. */
const covers = (rates: Rates, counts: Record<Kind, number>): boolean =>
  kinds.every((kind) => kind === "webSearch" || kind === "request" || counts[kind] === 0 || rateFor(rates, kind));

const kept = new Map<string, Tariff | undefined>();
const maxKept = 5000;
/** The keys of models whose price is another one at another hour of the day. */
const hourly = new Set<string>();

/** The rates for a model, as of a day or, where they depend on it, a minute; looking them up takes 10 to 20 µs. */
function tariffOf(question: PriceQuestion): Tariff | undefined {
  const { model, provider, source, at, serviceTier, speed } = question;
  if (Number.isNaN(at.getTime())) return undefined;
  const asked = JSON.stringify([model, provider, source, serviceTier, speed]);
  const key = `${asked}${Math.floor(at.getTime() / (hourly.has(asked) ? 60_000 : 86_400_000))}`;
  if (kept.has(key)) return kept.get(key);
  const { tariff, lasts } = lookUp(question);
  if (kept.size >= maxKept) {
    kept.clear();
    hourly.clear();
  }
  if (!lasts) hourly.add(asked);
  kept.set(key, tariff);
  return tariff;
}

/** @returns `lasts` false: the price is another one at another hour of the day */
function lookUp(question: PriceQuestion): { tariff: Tariff | undefined; lasts: boolean } {
  const name = modelOf(question.model);
  const found = name && listed(name, question);
  if (!name || !found) return { tariff: undefined, lasts: true };
  const { provider, model, model_price } = found;
  const free = model.id.endsWith(":free"); // the list has no amounts for these: nothing is what they cost
  const standard = free ? ratesFrom({ input: 0n, output: 0n }) : withHour(ratesOf(model_price), name.model);
  const { percent, ...tier } = tierOf(provider.id, name.model, {
    serviceTier: question.serviceTier,
    speed: question.speed ?? name.speed,
  });
  const rates = scaled(standard, decimal(percent) / 100n, false);
  return {
    tariff: {
      rates,
      by: {
        provider: provider.id,
        model: model.id,
        tier: tier.name,
        ...(tier.unknown !== undefined && { unknownTier: tier.unknown }),
      },
    },
    lasts: !changesInADay(found),
  };
}

/** Claude's cache for an hour costs twice the input wherever it is served; clouds' lists often lack it. */
function withHour(rates: Rates, model: string): Rates {
  if (rates.cacheWrite1h || !rates.cacheWrite5m || !rates.input || !model.startsWith("claude-")) return rates;
  return { ...rates, cacheWrite1h: scaled({ input: rates.input }, 2n * one, true).input };
}
