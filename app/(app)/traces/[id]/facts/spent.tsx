import type { Trace } from "#lib/traces/queries";
import { formatCompact } from "../../../../components/figures";
import { costOf, describeCost, describeTokens, tokensOf } from "../../spent";

/** What a session cost and the tokens that it used: input, output, and what was read from and written to a cache. */
export function Spent({ trace }: { trace: Trace }) {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens } = trace.usage;
  const cost = costOf(trace);
  const tokens = tokensOf(trace);
  const cached = cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens;
  const isSplit = inputTokens + outputTokens + cached > 0;
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
          {isSplit && (
            <span className="text-muted">
              {" "}
              ({formatCompact(inputTokens)} in, {formatCompact(outputTokens)} out, {formatCompact(cached)} cache)
            </span>
          )}
        </span>
      )}
      {describeCost(trace).map((remark) => (
        <span key={remark} className="text-muted">
          {remark}
        </span>
      ))}
    </>
  );
}
