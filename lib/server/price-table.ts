import { EnvError } from "#lib/errors";
import { modelOf } from "#lib/prices/model";
import { inDollars, type Kind, kinds, unitOf } from "#lib/prices/rates";
import { tariffOf } from "#lib/prices/tariff";

const titles: Record<Kind, string> = {
  input: "input",
  output: "output",
  reasoning: "reasoning",
  cacheRead: "cache read",
  cacheWrite5m: "cache write, 5 min",
  cacheWrite1h: "cache write, 1 h",
  webSearch: "web searches",
  request: "requests",
};

/** Describes what a model costs on a day (such as 2026-11-01; today by default). @throws EnvError for an invalid day */
export function priceTable(model: string, day: string | undefined): string[] {
  const at = day === undefined ? new Date() : new Date(`${day}T12:00:00Z`);
  if (Number.isNaN(at.getTime())) throw new EnvError(`${day} is no day: write it as 2026-11-01.`);
  const tariff = tariffOf({ model, source: "", at });
  const name = modelOf(model)?.model;
  const head = `${model}${name && name !== model ? ` (${name})` : ""} on ${at.toISOString().slice(0, 10)}`;
  if (!tariff) return [`${head} has no price: its tokens are counted as unpriced. PRICES_FILE can give it one.`];
  const { from, provider, model: priced, factor, estimated } = tariff.by;
  const nearest = estimated ? `estimated as ${priced}` : priced;
  const origin = [from, provider, nearest, factor === undefined ? "" : `times ${factor} by PRICES_FILE`];
  return [
    `${head}: ${origin.filter(Boolean).join(", ")}`,
    ...kinds.flatMap((kind) => makePriceLine(kind, tariff.rates[kind])),
  ];
}

type Rate = NonNullable<ReturnType<typeof tariffOf>>["rates"][Kind];

function makePriceLine(kind: Kind, rate: Rate): string[] {
  if (!rate) return [];
  const amount = (price: bigint) => `$${inDollars(kind, price)}`;
  const tiers = rate.tiers.map(({ above, price }) => `, ${amount(price)} above ${above.toLocaleString("en")} of input`);
  return [`  ${titles[kind].padEnd(20)}${amount(rate.base)} ${unitOf(kind)}${tiers.join("")}`];
}
