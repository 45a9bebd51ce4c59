import type { ProjectMonth } from "#lib/projects/queries";
import { formatDate } from "../../../components/values/date-format";
import { formatCompact, formatCount } from "../../../components/values/figures";
import { formatMoney } from "../../../components/values/money";

/** The share of its slot that a bar leaves free. */
const gap = 0.2;

const formatMonthName = ({ month }: ProjectMonth, style: "short" | "long") =>
  formatDate(new Date(`${month}-01T00:00:00Z`), "UTC", { month: style, year: "numeric" });

export function Months({ months }: { months: ProjectMonth[] }) {
  const shown = filled(months);
  const isMoney = shown.some(({ costNano }) => costNano > 0);
  const getAmount = (month: ProjectMonth) => (isMoney ? month.costNano : month.tokens);
  const formatMonthAmount = (month: ProjectMonth) =>
    isMoney ? formatMoney(month.costNano) : `${formatCompact(month.tokens)} tokens`;
  const [first, last] = [shown[0], shown.at(-1)];
  const top = Math.max(...shown.map(getAmount));
  const most = shown.find((month) => getAmount(month) === top);
  if (!first || !last || !most || top <= 0) return null;
  const slot = 100 / shown.length;
  return (
    <figure className="flex flex-col gap-2">
      <figcaption>
        Peak month: {formatMonthName(most, "long")}, {formatMonthAmount(most)}
      </figcaption>
      <svg aria-hidden="true" className="h-24 w-full border-hairline border-b">
        {shown.map((month, index) => (
          <rect
            key={month.month}
            x={`${slot * (index + gap / 2)}%`}
            width={`${slot * (1 - gap)}%`}
            y={`${100 - (100 * getAmount(month)) / top}%`}
            height={`${(100 * getAmount(month)) / top}%`}
            className="fill-accent"
          >
            <title>{`${formatMonthName(month, "long")}: ${formatMonthAmount(month)}`}</title>
          </rect>
        ))}
      </svg>
      <p aria-hidden="true" className="flex justify-between text-meta text-muted">
        <span>{formatMonthName(first, "short")}</span>
        {shown.length > 1 && <span>{formatMonthName(last, "short")}</span>}
      </p>
      <Table months={months} />
    </figure>
  );
}

/** Bars stay narrow, and at most two years fit. */
const [minMonths, maxMonths] = [12, 24];

function emptyMonth(before: string): ProjectMonth {
  const at = new Date(`${before}-01T00:00:00Z`);
  at.setUTCMonth(at.getUTCMonth() - 1);
  return { month: at.toISOString().slice(0, 7), tokens: 0, costNano: 0, unpricedTokens: 0, tierNotPricedTokens: 0 };
}

function filled(months: ProjectMonth[]): ProjectMonth[] {
  const known = new Map(months.map((month) => [month.month, month]));
  const [last, first] = [months[0]?.month, months.at(-1)?.month];
  if (!first || !last) return [];
  const all: ProjectMonth[] = [];
  for (const at = new Date(`${first}-01T00:00:00Z`); all.length < 240; at.setUTCMonth(at.getUTCMonth() + 1)) {
    const month = at.toISOString().slice(0, 7);
    if (month > last) break;
    all.push(known.get(month) ?? { month, tokens: 0, costNano: 0, unpricedTokens: 0, tierNotPricedTokens: 0 });
  }
  const shown = all.slice(-maxMonths);
  while (shown.length < minMonths) shown.unshift(emptyMonth(shown[0]?.month ?? last));
  return shown;
}

const formatTokenCount = (tokens: number) => (tokens > 0 ? formatCount(tokens) : "–");

function Table({ months }: { months: ProjectMonth[] }) {
  const hasTierNotPriced = months.some(({ tierNotPricedTokens }) => tierNotPricedTokens > 0);
  const hasUnpriced = months.some(({ unpricedTokens }) => unpricedTokens > 0);
  return (
    <details>
      <summary className="w-fit text-code text-muted hover:text-text">Show as table</summary>
      <table className="mt-2 text-code">
        <thead className="text-left text-muted">
          <tr>
            <th className="pr-6 font-normal">Month (UTC)</th>
            <th className="pr-6 text-right font-normal">Cost</th>
            <th className="pr-6 text-right font-normal">Tokens</th>
            {hasUnpriced && <th className="pr-6 text-right font-normal">Without price</th>}
            {hasTierNotPriced && <th className="text-right font-normal">Tier not priced</th>}
          </tr>
        </thead>
        <tbody>
          {months.map((month) => (
            <tr key={month.month}>
              <th className="pr-6 text-left font-normal">{formatMonthName(month, "long")}</th>
              <td className="pr-6 text-right">{month.costNano > 0 ? formatMoney(month.costNano) : "–"}</td>
              <td className="pr-6 text-right">{formatTokenCount(month.tokens)}</td>
              {hasUnpriced && <td className="pr-6 text-right">{formatTokenCount(month.unpricedTokens)}</td>}
              {hasTierNotPriced && <td className="text-right">{formatTokenCount(month.tierNotPricedTokens)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
