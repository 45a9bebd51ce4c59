import type { ModelPrice } from "@pydantic/genai-prices";

/** Decimals as integers of 10^-12, so that money is never a float. */
const digits = 12;

export const one = 10n ** BigInt(digits);

/**
 * Drops digits after the twelfth.
 * @throws RangeError for a number that is not finite
 */
export function decimal(value: number): bigint {
  const parts = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (!parts) throw new RangeError(`${value} is no amount`);
  const [, whole = "0", fraction = "", exponent = "0"] = parts;
  const shift = digits - fraction.length + Number(exponent);
  const all = BigInt(whole + fraction);
  return shift >= 0 ? all * 10n ** BigInt(shift) : all / 10n ** BigInt(-shift);
}

const times = (a: bigint, b: bigint): bigint => (a * b) / one;

export const rounded = (value: bigint): bigint => (value + one / 2n) / one;

/** `request` is charged per answer. */
export const kinds = [
  "input",
  "output",
  "reasoning",
  "cacheRead",
  "cacheWrite5m",
  "cacheWrite1h",
  "webSearch",
  "request",
] as const;
export type PriceKind = (typeof kinds)[number];

/** 10^-12 nano-dollars per token, search or request; tiers apply above a number of input tokens. */
type Rate = { base: bigint; tiers: { above: number; price: bigint }[] };
export type Rates = Partial<Record<PriceKind, Rate>>;

const keys: Record<PriceKind, string> = {
  input: "input_mtok",
  output: "output_mtok",
  reasoning: "output_reasoning_mtok",
  cacheRead: "cache_read_mtok",
  cacheWrite5m: "cache_write_mtok",
  cacheWrite1h: "cache_write_1h_mtok",
  webSearch: "web_searches_kcount",
  request: "requests_kcount",
};

/** A kind without its own price costs as much as the kind that includes it. */
export const includedIn: Partial<Record<PriceKind, PriceKind>> = {
  reasoning: "output",
  cacheRead: "input",
  cacheWrite5m: "input",
  cacheWrite1h: "cacheWrite5m",
};

/** One dollar per million tokens is 1,000 nano-dollars each, per thousand requests 1,000,000. */
const nano = (kind: PriceKind) => (keys[kind].endsWith("_kcount") ? 1_000_000n : 1000n);

export function toRates(price: ModelPrice): Rates {
  const rates: Rates = {};
  for (const kind of kinds) {
    const value = price[keys[kind]];
    if (value === undefined) continue;
    const { base, tiers } = typeof value === "number" ? { base: value, tiers: [] } : value;
    rates[kind] = {
      base: decimal(base) * nano(kind),
      tiers: tiers
        .map(({ start, price }) => ({ above: start, price: decimal(price) * nano(kind) }))
        .sort((a, b) => a.above - b.above),
    };
  }
  return rates;
}

/** In dollars per million tokens, or per thousand searches or requests. */
export function ratesFrom(amounts: Partial<Record<PriceKind, bigint>>): Rates {
  const rates: Rates = {};
  for (const kind of kinds) {
    const amount = amounts[kind];
    if (amount !== undefined) rates[kind] = { base: amount * nano(kind), tiers: [] };
  }
  return rates;
}

/**
 * @param factor in 10^-12
 * @param searches also scale web searches and requests
 */
export function scaled(rates: Rates, factor: bigint, searches: boolean): Rates {
  if (factor === one) return rates;
  const result: Rates = {};
  for (const kind of kinds) {
    const rate = rates[kind];
    if (rate === undefined) continue;
    const by = (price: bigint) => (searches || keys[kind].endsWith("_mtok") ? times(price, factor) : price);
    result[kind] = { base: by(rate.base), tiers: rate.tiers.map((tier) => ({ ...tier, price: by(tier.price) })) };
  }
  return result;
}

/** @param totalInput of the request, including cached tokens */
export function rateAt(rate: Rate, totalInput: number): bigint {
  let price = rate.base;
  for (const tier of rate.tiers) if (totalInput > tier.above) price = tier.price;
  return price;
}

/** Dollars per million tokens, or per thousand searches or requests. */
export const inDollars = (kind: PriceKind, rate: bigint): number => Number(rate / nano(kind)) / Number(one);

export const getUnitName = (kind: PriceKind): string =>
  keys[kind].endsWith("_mtok") ? "a million tokens" : "a thousand";
