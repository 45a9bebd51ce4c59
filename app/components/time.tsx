import { readerZone } from "./zone";

const day = (date: Date, timeZone: string) => new Intl.DateTimeFormat("en-CA", { timeZone }).format(date);

/** A moment as people say it: the clock today, the day this year, the date before that. */
function shortTime(date: Date, timeZone: string): string {
  const now = new Date();
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" });
  if (day(date, timeZone) === day(now, timeZone)) return clock.format(date);
  const sameYear = day(date, timeZone).slice(0, 4) === day(now, timeZone).slice(0, 4);
  const calendar = { timeZone, day: "numeric", month: "short" } as const;
  return new Intl.DateTimeFormat("en-GB", sameYear ? calendar : { ...calendar, year: "numeric" }).format(date);
}

/** The same, always with the clock. */
function momentTime(date: Date, timeZone: string): string {
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" }).format(date);
  const short = shortTime(date, timeZone);
  return short === clock ? clock : `${short}, ${clock}`;
}

/** A moment to the second, with its zone. */
export function longTime(date: Date, timeZone: string): string {
  return new Intl.DateTimeFormat("en-GB", {
    timeZone,
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  }).format(date);
}

function timeAgo(date: Date): string {
  const seconds = Math.max(0, Math.round((Date.now() - date.getTime()) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}

/**
 * A moment in the reader's zone; the exact one stands in its title.
 *
 * @param as `short` for rows, `moment` with the clock, `long` for a single fact, `ago` for what just happened
 */
export async function Time({ at, as = "short" }: { at: string; as?: "short" | "moment" | "long" | "ago" }) {
  const zone = await readerZone();
  const date = new Date(at);
  const shown = { short: shortTime, moment: momentTime, long: longTime, ago: timeAgo }[as](date, zone);
  return (
    <time dateTime={at} title={as === "long" ? at : longTime(date, zone)} className="whitespace-nowrap">
      {shown}
    </time>
  );
}
