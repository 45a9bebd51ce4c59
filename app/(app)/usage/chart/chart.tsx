import { csvHref, type Measure, tracesHref, type UsageRequest } from "../range";
import type { Bar, Chart } from "../shape";
import { axisAmounts, dayText, describeFinding, exactAmount, formatAmount, shortAmount, spanText } from "../words";
import { getFill, Hatch, Swatch } from "./bars";
import { LiveBars } from "./live-bars";

type Props = { chart: Chart; request: UsageRequest; measure: Measure; zone: string };

export function UsageChart({ chart, request, measure, zone }: Props) {
  const { series, bars, top } = chart;
  const fills = series.map(({ value, rest }, place) =>
    getFill(rest ? series.length : place, request.by === "source" && !rest && value !== null ? value : undefined),
  );
  const columns = bars.map((bar) => drawColumn(bar, chart, request, measure));
  const steps = [4, 3, 2, 1, 0].map((step) => (top / 4) * step);
  const marks = axisAmounts(steps, measure);
  const longer = request.from.slice(0, 4) !== request.to.slice(0, 4);
  const middle = bars[Math.floor(bars.length / 2)];
  return (
    <figure className="flex flex-col gap-3">
      <figcaption>{describeFinding(chart, request, measure)}</figcaption>
      <ul className="flex flex-wrap gap-x-4 gap-y-1 text-code">
        {series.map(({ key, name, total }, place) => (
          <li key={key ?? name} className="flex min-w-0 items-center gap-1.5">
            <Swatch fill={fills[place] ?? ""} />
            <span className="max-w-60 truncate">{name}</span>
            <span className="text-muted">{shortAmount(total, measure)}</span>
          </li>
        ))}
        {bars.some(({ unfinished, total }) => unfinished && total > 0) && (
          <li className="flex items-center gap-1.5 text-muted">
            <Hatch /> Today so far
          </li>
        )}
      </ul>
      <div className="grid grid-cols-[auto_1fr] gap-x-2 text-meta text-muted">
        <div aria-hidden="true" className="-my-2 flex h-64 flex-col justify-between text-right">
          {steps.map((step, place) => (
            <span key={step}>{marks[place]}</span>
          ))}
        </div>
        <div className="relative h-60">
          <svg aria-hidden="true" className="absolute inset-0 size-full">
            {steps.map((step) => (
              <line
                key={step}
                x1="0%"
                x2="100%"
                y1={`${100 - (100 * step) / top}%`}
                y2={`${100 - (100 * step) / top}%`}
                className="stroke-hairline"
              />
            ))}
          </svg>
          <LiveBars columns={columns} names={series.map(({ name }) => name)} fills={fills} top={top} />
        </div>
        <p aria-hidden="true" className="col-start-2 flex justify-between pt-1">
          <span>{dayText(request.from, longer)}</span>
          {bars.length > 8 && middle && <span>{dayText(middle.span.from)}</span>}
          {bars.length > 1 && <span>{dayText(request.to, longer)}</span>}
        </p>
      </div>
      <UsageTable chart={chart} request={request} measure={measure} zone={zone} />
    </figure>
  );
}

function drawColumn(
  { span, amounts, total, unfinished }: Bar,
  { series }: Chart,
  { by, filter }: UsageRequest,
  measure: Measure,
) {
  return {
    label: spanText(span),
    total: formatAmount(total, measure),
    texts: amounts.map((amount) => formatAmount(amount, measure)),
    amounts,
    unfinished,
    hrefs: series.map(({ key, value, names, rest }) =>
      tracesHref(span, rest ? {} : { facet: by, value, id: key, names }, filter),
    ),
  };
}

function UsageTable({ chart: { series, bars }, request, measure, zone }: Props) {
  const exact = (amount: number) => (amount === 0 ? "–" : exactAmount(amount, measure).replace(` ${measure}`, ""));
  return (
    <div className="flex flex-wrap items-start gap-x-6 gap-y-1">
      <details className="min-w-0 open:basis-full">
        <summary className="w-fit text-code text-muted hover:text-text">Show as table</summary>
        <section
          aria-label="Table"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="mt-2 max-h-96 overflow-auto rounded-block border border-hairline"
        >
          <table className="w-full text-right text-code tabular-nums">
            <thead className="sticky top-0 bg-block">
              <tr>
                <th scope="col" className="px-3 py-1.5 text-left font-medium">
                  {request.unit === "day" ? "Day" : "Week"}
                </th>
                {series.map(({ key, name }) => (
                  <th key={key ?? name} scope="col" className="max-w-48 truncate px-3 py-1.5 font-medium">
                    {name}
                  </th>
                ))}
                <th scope="col" className="px-3 py-1.5 font-medium">
                  {measure === "cost" ? "Total cost" : `All ${measure}`}
                </th>
              </tr>
            </thead>
            <tbody>
              {bars.map(({ span, amounts, total }) => (
                <tr key={span.from} className="border-hairline border-t">
                  <th scope="row" className="whitespace-nowrap px-3 py-1 text-left font-normal">
                    <a href={tracesHref(span, {}, request.filter)} className="quiet-link">
                      {spanText(span)}
                    </a>
                  </th>
                  {series.map(({ key, name }, place) => (
                    <td key={key ?? name} className="px-3 py-1">
                      {exact(amounts[place] ?? 0)}
                    </td>
                  ))}
                  <td className="px-3 py-1">{exact(total)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
      <a href={csvHref(request, zone)} className="link target text-code">
        CSV
      </a>
    </div>
  );
}
