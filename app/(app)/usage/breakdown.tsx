import type { UsageReport } from "#lib/usage/queries";
import { fillOf } from "./bars";
import { type Facet, facets, type Measure, tracesHref, type UsageRequest, usageHref } from "./range";
import { facetTexts, ranked } from "./shape";
import { shortNumber } from "./words";

type Props = { report: UsageReport; request: UsageRequest; measure: Measure };

/** The totals by each facet. */
export function Breakdowns(props: Props) {
  return (
    <div className="grid gap-x-12 gap-y-8 md:grid-cols-2">
      {facets.map((facet) => (
        <Breakdown key={facet} facet={facet} {...props} />
      ))}
    </div>
  );
}

const shownFirst = 6;

function Breakdown({ facet, report, request, measure }: Props & { facet: Facet }) {
  const values = ranked(report.byFacet[facet], facet, measure);
  const max = values[0]?.amount ?? 1;
  // The chart's facet uses the chart's colours, so that this list is its legend.
  const inkOf = (place: number) => (facet === request.by ? fillOf(place) : "fill-accent");
  const row = (one: (typeof values)[number], place: number) => (
    <Row key={one.name} {...one} ink={inkOf(place)} facet={facet} request={request} max={max} measure={measure} />
  );
  const rest = values.slice(shownFirst);
  return (
    <section aria-labelledby={`by-${facet}`} className="flex min-w-0 flex-col gap-2">
      <div className="flex items-baseline justify-between gap-4">
        <h2 id={`by-${facet}`} className="font-semibold text-prose">
          {facetTexts[facet].title}
        </h2>
        {facet === request.by ? (
          <span className="text-code text-muted">in the chart</span>
        ) : (
          <a href={usageHref(request, { by: facet })} className="link target text-code">
            Show in the chart<span className="sr-only"> by {facet}</span>
          </a>
        )}
      </div>
      <ul className="flex flex-col gap-1">{values.slice(0, shownFirst).map(row)}</ul>
      {rest.length > 0 && (
        <details>
          <summary className="w-fit text-code text-muted hover:text-text">{rest.length} more</summary>
          <ul className="flex flex-col gap-1 pt-1">{rest.map((one, place) => row(one, shownFirst + place))}</ul>
        </details>
      )}
    </section>
  );
}

type RowProps = {
  name: string;
  value: string | null;
  amount: number;
  max: number;
  ink: string;
  facet: Facet;
  request: UsageRequest;
  measure: Measure;
};

function Row({ name, value, amount, max, ink, facet, request, measure }: RowProps) {
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_3.5rem] items-center gap-3 text-code">
      {value === null ? (
        <span className="truncate text-muted">{name}</span>
      ) : (
        <a href={tracesHref(request, facet, value)} title={name} className="quiet-link truncate">
          {name}
        </a>
      )}
      <svg aria-hidden="true" className="h-3 w-full">
        <rect width={`${Math.max(0.5, (100 * amount) / max)}%`} height="100%" rx="2" className={ink} />
      </svg>
      <span title={`${amount.toLocaleString("en")} ${measure}`} className="text-right">
        {shortNumber(amount)}
      </span>
    </li>
  );
}
