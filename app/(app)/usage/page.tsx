import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { countDueTraces, findLastUse, readUsage, type UsageReport } from "#lib/usage/queries";
import { isoDay } from "../../components/date-format";
import { countOf, formatCount } from "../../components/figures";
import { Notice } from "../../components/notice";
import { Refresh } from "../../components/refresh";
import { addDays, readerZone } from "../../components/zone";
import { Breakdowns } from "./breakdown";
import { UsageChart } from "./chart";
import { type Measure, measures, readUsageParams, type UsageRequest, usageHref } from "./range";
import { RangeForm } from "./range-form";
import { chartOf } from "./shape";
import { dayText, shortNumber } from "./words";

export const metadata: Metadata = { title: "Usage" };

/** Tokens, messages and sessions over time. */
export default async function Page({ searchParams }: PageProps<"/usage">) {
  const user = await requireUser("/usage");
  const zone = await readerZone();
  const now = new Date();
  const request = readUsageParams(await searchParams, zone, isoDay(now, zone));
  const starts = [...request.spans.map(({ start }) => start), ...request.spans.slice(-1).map(({ end }) => end)];
  const [report, due] = await Promise.all([readUsage(user.id, starts, request.by), countDueTraces(user.id)]);
  const measure = request.show ?? (report.total.tokens > 0 ? "tokens" : "messages");
  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <h1 className="font-semibold text-title">Usage</h1>
        <RangeForm request={request} />
      </div>
      {due > 0 && (
        <Notice tone="info">
          <p>Still counting {countOf(due, "session")}. This page updates automatically.</p>
          <Refresh everySeconds={3} />
        </Notice>
      )}
      {report.total.messages === 0 ? (
        <Nothing userId={user.id} request={request} zone={zone} end={starts.at(-1) ?? now} />
      ) : (
        <>
          <Figures report={report} request={request} measure={measure} />
          <UsageChart
            chart={chartOf(report, request.spans, request.by, measure, now)}
            request={request}
            measure={measure}
          />
          <Breakdowns report={report} request={request} measure={measure} />
          <HowCounted report={report} zone={zone} />
        </>
      )}
    </div>
  );
}

/** The three totals; each is a link that shows its measure in the charts below. */
function Figures({ report, request, measure }: { report: UsageReport; request: UsageRequest; measure: Measure }) {
  return (
    <ul aria-label="What the charts show" className="grid grid-cols-3 gap-2 sm:flex">
      {measures.map((one) => (
        <li key={one}>
          <a
            href={usageHref(request, { show: one })}
            aria-current={one === measure ? "true" : undefined}
            title={`${formatCount(report.total[one])} ${one}`}
            className="flex flex-col sm:min-w-28 rounded-block border border-hairline px-2 py-2 hover:bg-block sm:px-3 aria-[current]:border-accent aria-[current]:bg-tint"
          >
            <span className="font-semibold text-title sm:text-figure">{shortNumber(report.total[one])}</span>
            <span className="text-code text-muted">{one}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function HowCounted({ report: { total }, zone }: { report: UsageReport; zone: string }) {
  const { messages, uncounted, untimed } = total;
  return (
    <p className="max-w-[72ch] text-code text-muted">
      Tokens are those reported with each message
      {uncounted > 0 &&
        `; ${formatCount(uncounted)} of ${countOf(messages, "message")} reported none and count as zero`}
      .{untimed > 0 && ` ${countOf(untimed, "message")} without a time count with the message before.`} A session counts
      on each day on which it has messages; the list behind a bar goes by each session's last activity. Days are in{" "}
      {zone}.
    </p>
  );
}

/** Links an empty range to the last day with messages before its end, else to the last day with any. */
async function Nothing({
  userId,
  request,
  zone,
  end,
}: {
  userId: string;
  request: UsageRequest;
  zone: string;
  end: Date;
}) {
  const last = (await findLastUse(userId, end)) ?? (await findLastUse(userId, new Date()));
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
