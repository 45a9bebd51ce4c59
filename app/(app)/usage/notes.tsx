import { operatorCommand } from "#lib/core/variables/operator-command";
import { findEstimate } from "#lib/prices/tariff";
import type { UsageReport } from "#lib/usage/report";
import { Section } from "../../components/section";
import { formatCompact, formatQuantity } from "../../components/values/figures";
import { formatMoney } from "../../components/values/money";
import { percent } from "./words";

const formatTokens = (tokens: number) => `${formatCompact(tokens)} ${tokens === 1 ? "token" : "tokens"}`;

function Models({ tokens }: { tokens: [model: string | null, tokens: number][] }) {
  return (
    <ul className="flex flex-wrap gap-x-6 gap-y-1 text-code">
      {tokens.map(([model, count]) => (
        <li key={model ?? ""} className="flex min-w-0 gap-1.5" title={formatQuantity(count, "token")}>
          <span className="truncate">{model ?? "no model"}</span>
          <span className="text-muted tabular-nums">{formatTokens(count)}</span>
        </li>
      ))}
    </ul>
  );
}

export function Unpriced({ report: { total, byFacet } }: { report: UsageReport }) {
  if (total.unpricedTokens === 0) return null;
  const models = (byFacet.model?.values ?? [])
    .filter(({ unpricedTokens }) => unpricedTokens > 0)
    .toSorted((a, b) => b.unpricedTokens - a.unpricedTokens);
  return (
    <Section id="unpriced" title="Without a price">
      <p className="max-w-[72ch]">
        {formatTokens(total.unpricedTokens)} {total.unpricedTokens === 1 ? "has" : "have"} no known price and{" "}
        {total.unpricedTokens === 1 ? "isn’t" : "aren’t"} counted in costs.
      </p>
      <Models tokens={models.map(({ value, unpricedTokens }) => [value, unpricedTokens])} />
      <p className="max-w-[72ch] text-code text-muted">
        The server’s operator can add prices in <code>PRICES_FILE</code>, then run{" "}
        <code>{operatorCommand("admin", "reprice")}</code>.
      </p>
    </Section>
  );
}

export function TierNotPriced({ report: { total, byFacet } }: { report: UsageReport }) {
  if (total.tierNotPricedTokens === 0) return null;
  const models = (byFacet.model?.values ?? [])
    .filter(({ tierNotPricedTokens }) => tierNotPricedTokens > 0)
    .toSorted((a, b) => b.tierNotPricedTokens - a.tierNotPricedTokens);
  return (
    <Section id="tier-not-priced" title="Tier not priced">
      <p className="max-w-[72ch]">
        {formatTokens(total.tierNotPricedTokens)} {total.tierNotPricedTokens === 1 ? "counts" : "count"} at the standard
        price, since their service tier has no price. Each session’s page names the tier.
      </p>
      <Models tokens={models.map(({ value, tierNotPricedTokens }) => [value, tierNotPricedTokens])} />
    </Section>
  );
}

export function Estimated({ report: { byFacet } }: { report: UsageReport }) {
  const models = (byFacet.model?.values ?? []).flatMap(({ value, costNano }) => {
    const nearest = value !== null && costNano > 0 ? findEstimate(value) : undefined;
    return nearest === undefined ? [] : [{ value, nearest, costNano }];
  });
  if (models.length === 0) return null;
  return (
    <Section id="estimated" title="Estimated prices">
      <p className="max-w-[72ch]">
        These models are not in the price list. Their costs are estimated with the price of a similar model.
      </p>
      <ul className="flex flex-wrap gap-x-6 gap-y-1 text-code">
        {models.map(({ value, nearest, costNano }) => (
          <li key={value} className="flex min-w-0 gap-1.5">
            <span className="truncate">{value}</span>
            <span className="text-muted tabular-nums">
              as {nearest}, {formatMoney(costNano)}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function Recorded({ report: { total } }: { report: UsageReport }) {
  const { recordedNano, compared } = total;
  if (recordedNano === 0) return null;
  const difference = compared.costNano - compared.recordedNano;
  const unpriced = recordedNano - compared.recordedNano;
  return (
    <Section id="recorded" title="Recorded by agents">
      <dl className="grid w-fit grid-cols-[auto_auto] gap-x-6 gap-y-1 text-code">
        <dt className="text-muted">Recorded by agents</dt>
        <dd className="text-right tabular-nums">{formatMoney(compared.recordedNano)}</dd>
        <dt className="text-muted">The same messages here</dt>
        <dd className="text-right tabular-nums">{formatMoney(compared.costNano)}</dd>
        <dt className="text-muted">Difference</dt>
        <dd className="text-right tabular-nums">
          {difference === 0
            ? "none"
            : `${difference > 0 ? "+" : "−"}${formatMoney(Math.abs(difference))}${
                compared.recordedNano > 0 ? ` (${percent(Math.abs(difference), compared.recordedNano)})` : ""
              }`}
        </dd>
      </dl>
      <p className="max-w-[72ch] text-code text-muted">
        Some agents record costs themselves. This page uses Spoor’s prices.
        {unpriced > 0 && ` Agents recorded another ${formatMoney(unpriced)} for models without a price here.`}
      </p>
    </Section>
  );
}
