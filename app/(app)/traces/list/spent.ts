import { usedTokens } from "#lib/core/fields";
import { findEstimate } from "#lib/prices/tariff";
import type { Trace } from "#lib/traces/queries";
import { formatCount, formatQuantity } from "../../../components/values/figures";
import { formatMoney } from "../../../components/values/money";

export const countTokens = ({ usage, tokenCount }: Pick<Trace, "usage" | "tokenCount">): number =>
  usedTokens(usage, tokenCount);

/** "41,500 tokens: 1,200 input, 300 output, 40,000 read from cache" */
export function describeTokens(trace: Pick<Trace, "usage" | "tokenCount">): string {
  const { inputTokens, outputTokens, reasoningTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens } =
    trace.usage;
  const kinds: [tokens: number, name: string][] = [
    [inputTokens, "input"],
    [outputTokens, reasoningTokens > 0 ? `output (${formatCount(reasoningTokens)} reasoning)` : "output"],
    [cacheReadTokens, "read from cache"],
    [cacheWrite5mTokens, "written to cache for 5 minutes"],
    [cacheWrite1hTokens, "written to cache for an hour"],
  ];
  const parts = kinds.flatMap(([tokens, name]) => (tokens > 0 ? [`${formatCount(tokens)} ${name}`] : []));
  const total = formatQuantity(countTokens(trace), "token");
  return parts.length === 0 ? total : `${total}: ${parts.join(", ")}`;
}

/** Undefined if nothing is known; "+" if some tokens have no price. */
export function formatCost({ costNano, usage }: Pick<Trace, "costNano" | "usage">): string | undefined {
  if (costNano === 0) return undefined;
  return usage.unpricedTokens > 0 ? `${formatMoney(costNano)}+` : formatMoney(costNano);
}

export const describeTier = (tokens: number): string[] =>
  tokens > 0 ? [`${formatQuantity(tokens, "token")}: tier not priced`] : [];

export function describeCost({
  costNano,
  recordedNano,
  usage,
  model,
}: Pick<Trace, "costNano" | "recordedNano" | "usage" | "model">): string[] {
  const nearest = model !== null && costNano > 0 ? findEstimate(model) : undefined;
  const recorded = recordedNano === null ? undefined : formatMoney(recordedNano);
  return [
    ...(usage.unpricedTokens > 0 ? [`${formatQuantity(usage.unpricedTokens, "token")} without a price`] : []),
    ...(nearest === undefined ? [] : [`estimated: priced as ${nearest}`]),
    ...(recorded !== undefined && recorded !== formatMoney(costNano) ? [`${recorded} recorded by the agent`] : []),
  ];
}
