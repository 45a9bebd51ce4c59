import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { usedTokens } from "#lib/core/fields";
import { addDays } from "#lib/usage/days";
import { readMonth } from "#lib/usage/month";
import { countDueTraces, countUndated, findLastUse } from "#lib/usage/queries";
import { readUsage, type UsageReport } from "#lib/usage/report";
import { usageDay, usageFacets } from "#lib/usage/schema";
import { readerZone } from "../../components/shell/preferences";
import { Counting } from "../../components/values/counting";
import { isoDay } from "../../components/values/date-format";
import { formatCount, formatQuantity } from "../../components/values/figures";
import { Breakdowns } from "./breakdown";
import { UsageChart } from "./chart/chart";
import { MonthSection } from "./month";
import { Estimated, Recorded, TierNotPriced, Unpriced } from "./notes";
import { filterNames, type Measure, readUsageParams, type UsageRequest, usageHref } from "./range";
import { RangeForm } from "./range-form";
import { facetTexts, makeChart, makeYardstick } from "./shape";
import { Totals } from "./totals";
import { dayText } from "./words";

export const metadata: Metadata = { title: "Usage" };

const rolled = usageFacets.filter((facet) => facet !== "pr");

export default async function Page({ searchParams }: PageProps<"/usage">) {
  const user = await requireUser("/usage");
  const zone = await readerZone();
  const now = new Date();
  const request = readUsageParams(await searchParams, zone, isoDay(now, zone));
  const { spans, by, show, filter } = request;
  // In sequence: a user's heavy reads run two at a time, and other pages need them, too.
  const report = await readUsage(user.id, {
    ...{ spans, by, filter, facets: rolled },
    // Slow (reads every linked session), so only on request.
    activityOfBranches: by === "branch",
  });
  const [month, due, undated] = await Promise.all([
    readMonth(user.id, zone, now),
    countDueTraces(user.id),
    countUndated(user.id),
  ]);
  const measure = show ?? usualMeasure(report);
  const yardstick = makeYardstick(measure, report.total);
  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <h1 className="font-semibold text-title">Usage</h1>
        <RangeForm request={request} />
      </div>
      <Filters request={request} />
      <Counting sessions={due} />
      {undated > 0 && (
        <p className="text-code text-muted">
          {formatQuantity(undated, "session")} {undated === 1 ? "has no date and counts" : "have no date and count"} in
          no period.
        </p>
      )}
      {report.total.messages === 0 ? (
        <Nothing
          userId={user.id}
          request={request}
          zone={zone}
          end={spans.at(-1)?.end ?? now}
          hasUndated={undated > 0}
        />
      ) : (
        <>
          <Totals report={report} request={request} measure={measure} />
          <UsageChart
            chart={makeChart(report, spans, by, yardstick, now)}
            request={request}
            measure={measure}
            zone={zone}
          />
          <Unpriced report={report} />
          <TierNotPriced report={report} />
          <Estimated report={report} />
          <Breakdowns report={report} request={request} yardstick={yardstick} />
          <Recorded report={report} />
          <MonthSection month={month} report={report} />
          <HowCounted report={report} zone={zone} />
        </>
      )}
    </div>
  );
}

function usualMeasure({ total }: UsageReport): Measure {
  if (total.costNano > 0) return "cost";
  return usedTokens(total, total.tokenCount) > 0 ? "tokens" : "messages";
}

function Filters({ request }: { request: UsageRequest }) {
  const set = filterNames.filter((name) => request.filter[name] !== undefined);
  if (set.length === 0) return null;
  return (
    <ul aria-label="Only" className="flex flex-wrap gap-2 text-code">
      {set.map((name) => (
        <li key={name}>
          <a
            href={usageHref(request, { filter: { ...request.filter, [name]: undefined } })}
            className="target flex items-center gap-1.5 rounded-control bg-tint px-2 py-1 text-accent"
          >
            <span className="[overflow-wrap:anywhere]">
              {facetTexts[name].title}: {request.filter[name]}
            </span>
            <span aria-hidden="true">×</span>
            <span className="sr-only">show all {facetTexts[name].many}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function HowCounted({ report: { total, byFacet }, zone }: { report: UsageReport; zone: string }) {
  const { messages, uncounted, untimed } = total;
  const isLinked = byFacet.pr !== undefined || byFacet.branch?.values.some(({ value }) => value !== null);
  // Requests have more tokens than their messages count.
  const isRecorded = usedTokens(total, 0) > total.tokenCount;
  return (
    <p className="max-w-[72ch] text-code text-muted">
      {isRecorded
        ? "Tokens as recorded by agents for each request: input, output, cache reads and cache writes."
        : "Tokens as reported with each message"}
      {!isRecorded &&
        (uncounted > 0
          ? `; ${formatCount(uncounted)} of ${formatQuantity(messages, "message")} reported none and count as zero.`
          : ".")}
      {total.costNano > 0 && " Cost at the list prices of each message's day."}
      {untimed > 0 && ` ${formatQuantity(untimed, "message")} without a time count with the previous message.`} A
      session counts on each day on which it has messages; the list behind a bar goes by each session's last activity.
      {isLinked && " A session with several branches or pull requests counts at each, so their sum exceeds the total."}{" "}
      Days are in {zone}.
    </p>
  );
}

async function Nothing({
  userId,
  request,
  zone,
  end,
  hasUndated,
}: {
  userId: string;
  request: UsageRequest;
  zone: string;
  end: Date;
  hasUndated: boolean;
}) {
  const last = (await findLastUse(userId, end)) ?? (await findLastUse(userId, new Date()));
  if (!last && hasUndated) return <p className="py-8">No usage in this period.</p>;
  if (!last)
    return (
      <p className="py-8 text-muted">
        No sessions have been uploaded yet.{" "}
        <a href="/traces" className="link">
          Connect a machine
        </a>
      </p>
    );
  const day = isoDay(last, zone);
  if (!usageDay.safeParse(day).success) return <p className="py-8">No usage in this period.</p>;
  const href = usageHref(request, { range: { from: addDays(day, -29), to: day } });
  return (
    <p className="py-8">
      No usage in this period. The last day with usage is{" "}
      <a href={href} className="link">
        {dayText(day, true)}
      </a>
      .
    </p>
  );
}
