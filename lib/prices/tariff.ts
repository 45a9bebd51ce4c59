import { changesInADay, type Listed, listed } from "#lib/prices/catalog";
import { priceListInUse } from "#lib/prices/list";
import { type ModelName, parseModelName } from "#lib/prices/model";
import { nearest } from "#lib/prices/nearest";
import { findOwnPrice, ownPrices } from "#lib/prices/own";
import { decimal, one, type Rates, ratesFrom, scaled, toRates } from "#lib/prices/rates";
import { secondList, secondListed } from "#lib/prices/second";
import { resolveTier } from "#lib/prices/tiers";

export type Asked = {
  model: string;
  provider?: string;
  source: string;
  /** Prices are as of this time. */
  at: Date;
  serviceTier?: string | null;
  speed?: string | null;
};

export type PricedBy = {
  from: string;
  /** Absent for a price from PRICES_FILE. */
  provider?: string;
  model: string;
  /** `model` is the nearest one, since the requested model is not listed. */
  estimated?: true;
  /** PRICES_FILE's factor on the list price. */
  factor?: number;
  /** `tier` is charged; `unknownTier` was served, but has no known price. */
  tier: string;
  unknownTier?: string;
};

type Tariff = { rates: Rates; by: PricedBy };

const kept = new Map<string, Tariff | undefined>();
const maxKept = 5000;
/** Longer texts are not cached. */
const maxText = 256;
let cacheOwners: unknown[] = [];
const hourly = new Set<string>();

/** Cached by day, or by minute if the price depends on it; a look-up takes 10 to 20 µs. */
export function findTariff(question: Asked): Tariff | undefined {
  const { model, provider, source, at, serviceTier, speed } = question;
  const texts = [model, provider, source, serviceTier, speed];
  if (Number.isNaN(at.getTime()) || texts.some((text) => text && text.length > maxText)) return undefined;
  const asked = JSON.stringify(texts);
  forgetOthers();
  const key = `${asked}${Math.floor(at.getTime() / (hourly.has(asked) ? 60_000 : 86_400_000))}`;
  if (kept.has(key)) return kept.get(key);
  const { tariff, lasts } = lookUp(question);
  if (kept.size >= maxKept) forget();
  if (!lasts) hourly.add(asked);
  kept.set(key, tariff);
  return tariff;
}

export function findEstimate(model: string): string | undefined {
  const by = findTariff({ model, source: "", at: new Date() })?.by;
  return by?.estimated ? by.model : undefined;
}

function forgetOthers(): void {
  const now = [priceListInUse().generation, ownPrices()];
  if (now.every((one, i) => one === cacheOwners[i])) return;
  cacheOwners = now;
  forget();
}

function forget(): void {
  kept.clear();
  hourly.clear();
}

/** @returns `lasts` false if the price depends on the hour */
function lookUp(question: Asked): { tariff: Tariff | undefined; lasts: boolean } {
  const name = parseModelName(question.model);
  const names = [question.model.trim().toLowerCase(), ...(name ? [name.listed, name.dated, name.model] : [])];
  const own = findOwnPrice(names, question.at);
  if (own?.rates) {
    return {
      tariff: { rates: own.rates, by: { from: "PRICES_FILE", model: own.model, tier: "standard" } },
      lasts: true,
    };
  }
  const exact = name && listed(name, question);
  const second = exact ? undefined : name && secondListed(name);
  const kin = exact || second ? undefined : name && nearest(name, question.at);
  const found = exact ?? second ?? kin;
  if (!name || !found) return { tariff: undefined, lasts: true };
  const tariff = listTariff(question, name, found);
  if (second || kin?.isSecond) tariff.by.from = secondList;
  if (second?.isEstimate || kin) tariff.by.estimated = true;
  if (own?.factor === undefined) return { tariff, lasts: !changesInADay(found) };
  const by = { ...tariff.by, factor: Number(own.factor) / Number(one) };
  return { tariff: { rates: scaled(tariff.rates, own.factor, true), by }, lasts: !changesInADay(found) };
}

function listTariff(question: Asked, name: ModelName, found: Listed): Tariff {
  const { provider, model, model_price } = found;
  const free = model.id.endsWith(":free"); // free models have no amounts in the list
  const standard = free ? ratesFrom({ input: 0n, output: 0n }) : withHour(toRates(model_price), name.model);
  const tier = resolveTier(provider.id, name.model, {
    serviceTier: question.serviceTier,
    speed: question.speed ?? name.speed,
  });
  return {
    rates: scaled(standard, decimal(tier.percent) / 100n, false),
    by: {
      from: priceListInUse().from,
      provider: provider.id,
      model: model.id,
      tier: tier.name,
      ...(tier.unknown !== undefined && { unknownTier: tier.unknown }),
    },
  };
}

/** Claude's one-hour cache costs twice the input everywhere; clouds' lists often lack it. */
function withHour(rates: Rates, model: string): Rates {
  if (rates.cacheWrite1h || !rates.cacheWrite5m || !rates.input || !model.startsWith("claude-")) return rates;
  return { ...rates, cacheWrite1h: scaled({ input: rates.input }, 2n * one, true).input };
}
