import type { UsageReport } from "#lib/usage/report";
import { type UsageFacet, usageFacets } from "#lib/usage/schema";
import { formatQuantity } from "../../components/values/figures";
import { getFill } from "./chart/bars";
import { type Measure, type Narrowed, tracesHref, type UsageRequest, usageHref } from "./range";
import { facetTexts, type Ranked, ranked, type Yardstick } from "./shape";
import { exactAmount, shortAmount } from "./words";

type Props = { report: UsageReport; request: UsageRequest; yardstick: Yardstick };

export function Breakdowns(props: Props) {
  return (
    <div className="grid gap-x-12 gap-y-8 md:grid-cols-2">
      {usageFacets.map((facet) => (
        <Breakdown key={facet} facet={facet} {...props} />
      ))}
    </div>
  );
}

const shownFirst = 6;

function Breakdown({ facet, report, request, yardstick }: Props & { facet: UsageFacet }) {
  const { values: all, others } = report.byFacet[facet] ?? { values: [], others: 0 };
  const values = ranked(all, facet, yardstick);
  // Slow to read, so only for the chart's own facet.
  const isUnread =
    facet !== request.by &&
    (facet === "pr" || (facet === "branch" && ["sessions", "messages"].includes(yardstick.measure)));
  if (facet === "branch" && facet !== request.by && !isUnread && values.every(({ value }) => value === null))
    return null;
  const { measure } = yardstick;
  const max = values[0]?.amount ?? 1;
  const getBarFill = (place: number, value: string | null) => {
    const agent = facet === "source" && value !== null ? value : undefined;
    return agent !== undefined || facet === request.by ? getFill(place, agent) : "fill-accent";
  };
  const row = (one: (typeof values)[number], place: number) => (
    <Row
      key={one.id ?? ""}
      {...one}
      ink={getBarFill(place, one.value)}
      facet={facet}
      request={request}
      max={max}
      measure={measure}
    />
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
            Show in the chart<span className="sr-only"> by {facetTexts[facet].title.toLowerCase()}</span>
          </a>
        )}
      </div>
      {!isUnread && <ul className="flex flex-col gap-1">{values.slice(0, shownFirst).map(row)}</ul>}
      {!isUnread && rest.length > 0 && (
        <details>
          <summary className="w-fit text-code text-muted hover:text-text">{rest.length} more</summary>
          <ul className="flex flex-col gap-1 pt-1">{rest.map((one, place) => row(one, shownFirst + place))}</ul>
        </details>
      )}
      {!isUnread && others > 0 && <p className="text-code text-muted">and {formatQuantity(others, "smaller one")}</p>}
    </section>
  );
}

type RowProps = Ranked & { max: number; ink: string; facet: UsageFacet; request: UsageRequest; measure: Measure };

function Row({ id, name, value, names, amount, max, ink, facet, request, measure }: RowProps) {
  const href = makeNarrowHref({ facet, value, id, names }, request);
  // A model's other names include its dates.
  const title = names?.some((one) => one !== name) ? names.join(", ") : name;
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_4.5rem] items-center gap-3 text-code">
      {href === undefined ? (
        <span title={title} className={`truncate ${value === null ? "text-muted" : ""}`}>
          {name}
        </span>
      ) : (
        <a href={href} title={title} className="quiet-link truncate">
          {name}
        </a>
      )}
      <svg aria-hidden="true" className="h-3 w-full">
        <rect width={`${Math.max(0.5, (100 * amount) / max)}%`} height="100%" rx="2" className={ink} />
      </svg>
      <span title={exactAmount(amount, measure)} className="text-right tabular-nums">
        {shortAmount(amount, measure)}
      </span>
    </li>
  );
}

function makeNarrowHref(narrowed: Narrowed, request: UsageRequest): string | undefined {
  if (narrowed.value === null || narrowed.facet === "branch" || narrowed.facet === "pr") return undefined;
  return tracesHref(request, narrowed, request.filter);
}
