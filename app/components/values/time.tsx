import { readerZone } from "../shell/preferences";
import { formatDate, isoDay, longTime, type Parts } from "./date-format";

const clockParts: Parts = { hour: "2-digit", minute: "2-digit" };

export function shortTime(date: Date, timeZone: string): string {
  const [its, today] = [isoDay(date, timeZone), isoDay(new Date(), timeZone)];
  if (its === today) return formatDate(date, timeZone, clockParts);
  const calendar: Parts = { day: "numeric", month: "short" };
  return formatDate(
    date,
    timeZone,
    its.slice(0, 4) === today.slice(0, 4) ? calendar : { ...calendar, year: "numeric" },
  );
}

function momentTime(date: Date, timeZone: string): string {
  const clock = formatDate(date, timeZone, clockParts);
  const short = shortTime(date, timeZone);
  return short === clock ? clock : `${short}, ${clock}`;
}

function timeAgo(date: Date): string {
  const seconds = Math.max(0, Math.round((Date.now() - date.getTime()) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

type TimeForm = "short" | "moment" | "long" | "ago";

export function ActivityTime({ of, as }: { of: { updatedAt: string; dated: boolean }; as?: TimeForm }) {
  return of.dated ? <Time at={of.updatedAt} {...(as && { as })} /> : <span className="text-muted">no date</span>;
}

/** @param as `short` for rows, `moment` with the clock, `long` for a single fact, `ago` for recent events */
export async function Time({ at, as = "short" }: { at: string; as?: TimeForm }) {
  const zone = await readerZone();
  const date = new Date(at);
  const shown = { short: shortTime, moment: momentTime, long: longTime, ago: timeAgo }[as](date, zone);
  return (
    <time dateTime={at} title={as === "long" ? at : longTime(date, zone)} className="whitespace-nowrap">
      {shown}
    </time>
  );
}
