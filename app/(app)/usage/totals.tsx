import { usedTokens } from "#lib/core/fields";
import type { UsageReport } from "#lib/usage/report";
import type { Figures } from "#lib/usage/schema";
import { formatCompact, formatCount } from "../../components/values/figures";
import { type Measure, measures, type UsageRequest, usageHref } from "./range";
import { makeYardstick } from "./shape";
import { exactAmount, percent, shortAmount } from "./words";

export function Totals({ report, request, measure }: { report: UsageReport; request: UsageRequest; measure: Measure }) {
  const { total } = report;
  const shown = measures.filter((one) => one !== "cost" || total.costNano > 0 || total.unpricedTokens > 0);
  return (
    <div className="flex flex-col gap-3">
      <ul aria-label="Measure of the charts" className="grid grid-cols-2 gap-2 sm:flex">
        {shown.map((one) => {
          const amount = makeYardstick(one, total).read(total);
          return (
            <li key={one}>
              <a
                href={usageHref(request, { show: one })}
                aria-current={one === measure ? "true" : undefined}
                title={exactAmount(amount, one)}
                className="flex flex-col sm:min-w-28 rounded-block border border-hairline px-2 py-2 hover:bg-block sm:px-3 aria-[current]:border-accent aria-[current]:bg-tint"
              >
                <span className="font-semibold text-section tabular-nums sm:text-figure">
                  {shortAmount(amount, one)}
                </span>
                <span className="text-code text-muted">{amount === 1 ? one.replace(/s$/, "") : one}</span>
              </a>
            </li>
          );
        })}
      </ul>
      {usedTokens(total, 0) > 0 && <Split total={total} />}
    </div>
  );
}

function Split({ total }: { total: Figures }) {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens, reasoningTokens } = total;
  const written = cacheWrite5mTokens + cacheWrite1hTokens;
  const input = inputTokens + cacheReadTokens + written;
  const parts: [name: string, tokens: number, detail?: string][] = [
    ["Input", inputTokens, "not from a cache"],
    ["Output", outputTokens, reasoningTokens > 0 ? `${formatCount(reasoningTokens)} of them reasoning` : undefined],
    ["Read from cache", cacheReadTokens],
    [
      "Written to cache",
      written,
      `${formatCount(cacheWrite5mTokens)} for 5 minutes, ${formatCount(cacheWrite1hTokens)} for an hour`,
    ],
  ];
  return (
    <dl aria-label="Tokens" className="flex flex-wrap gap-x-6 gap-y-1 text-code">
      {parts.map(([name, tokens, detail]) => (
        <div
          key={name}
          className="flex gap-1.5"
          title={[`${formatCount(tokens)} tokens`, detail].filter(Boolean).join(", ")}
        >
          <dt className="text-muted">{name}</dt>
          <dd className="tabular-nums">{formatCompact(tokens)}</dd>
        </div>
      ))}
      {input > 0 && (
        <div className="flex gap-1.5" title="Share of input that was read from a cache">
          <dt className="text-muted">Cache hit rate</dt>
          <dd className="tabular-nums">{percent(cacheReadTokens, input)}</dd>
        </div>
      )}
    </dl>
  );
}
