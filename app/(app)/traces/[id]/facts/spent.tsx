import type { Trace } from "#lib/traces/queries";
import type { ModelUse } from "#lib/traces/usage";
import { formatCompact } from "../../../../components/values/figures";
import { countTokens, describeCost, describeTokens, formatCost } from "../../list/spent";

export function Spent({ trace, models }: { trace: Trace; models: ModelUse[] }) {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens } = trace.usage;
  const cost = formatCost(trace);
  const tokens = countTokens(trace);
  const cached = cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens;
  const kinds: [tokens: number, name: string][] = [
    [inputTokens, "in"],
    [outputTokens, "out"],
    [cached, "cache"],
  ];
  const split = kinds.filter(([count]) => count > 0).map(([count, name]) => `${formatCompact(count)} ${name}`);
  return (
    <>
      {cost && (
        <span title={`${cost}, by list prices`} className="whitespace-nowrap font-medium tabular-nums">
          {cost}
        </span>
      )}
      {tokens > 0 && (
        <span title={describeTokens(trace)}>
          {formatCompact(tokens)} <span className="text-muted">tokens</span>
          {split.length > 1 && <span className="text-muted"> ({split.join(", ")})</span>}
        </span>
      )}
      {[...describeTiers(models), ...describeCost(trace)].map((remark) => (
        <span key={remark} className="text-muted">
          {remark}
        </span>
      ))}
    </>
  );
}

const describeTiers = (models: ModelUse[]): string[] =>
  [...new Set(models.flatMap(({ tiersNotPriced }) => tiersNotPriced))].map((tier) => `tier “${tier}” not priced`);
