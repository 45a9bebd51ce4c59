import { EnvError } from "#lib/core/errors";
import { parseModelName } from "#lib/prices/model";
import { getUnitName, inDollars, kinds, type PriceKind } from "#lib/prices/rates";
import { findTariff } from "#lib/prices/tariff";

const titles: Record<PriceKind, string> = {
  input: "input",
  output: "output",
  reasoning: "reasoning",
  cacheRead: "cache read",
  cacheWrite5m: "cache write, 5 min",
  cacheWrite1h: "cache write, 1 h",
  webSearch: "web searches",
  request: "requests",
};

/** @param day such as 2026-11-01; today by default */
export function priceTable(model: string, day: string | undefined): string[] {
  const at = day === undefined ? new Date() : new Date(`${day}T12:00:00Z`);
  if (Number.isNaN(at.getTime())) throw new EnvError(`${day} is not a date: write it as 2026-11-01.`);
  const tariff = findTariff({ model, source: "", at });
  const name = parseModelName(model)?.model;
  const head = `${model}${name && name !== model ? ` (${name})` : ""} on ${at.toISOString().slice(0, 10)}`;
  if (!tariff) return [`${head} has no price: its tokens are counted as unpriced. Add a price in PRICES_FILE.`];
  const { from, provider, model: priced, factor, estimated } = tariff.by;
  const nearest = estimated ? `estimated as ${priced}` : priced;
  const origin = [from, provider, nearest, factor === undefined ? "" : `times ${factor} by PRICES_FILE`];
  return [
    `${head}: ${origin.filter(Boolean).join(", ")}`,
    ...kinds.flatMap((kind) => makePriceLine(kind, tariff.rates[kind])),
  ];
}

type Rate = NonNullable<ReturnType<typeof findTariff>>["rates"][PriceKind];

function makePriceLine(kind: PriceKind, rate: Rate): string[] {
  if (!rate) return [];
  const amount = (price: bigint) => `$${inDollars(kind, price)}`;
  const tiers = rate.tiers.map(({ above, price }) => `, ${amount(price)} above ${above.toLocaleString("en")} of input`);
  return [`  ${titles[kind].padEnd(20)}${amount(rate.base)} ${getUnitName(kind)}${tiers.join("")}`];
}
