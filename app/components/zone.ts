import "server-only";
import { cookies } from "next/headers";
import { cache } from "react";

/** The reader's time zone by cookie, else UTC. */
export const readerZone = cache(async (): Promise<string> => {
  const zone = (await cookies()).get("spoor_tz")?.value;
  if (!zone) return "UTC";
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return "UTC"; // a cookie may contain any text
    throw error;
  }
});

/** The day (`YYYY-MM-DD`) so many days after another, or before it where negative. */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/**
 * The moment at which a calendar day begins in a zone.
 *
 * @param day `YYYY-MM-DD`
 * @param plusDays 1 for the end of the day, as the next one's beginning
 * @returns ISO 8601 in UTC, or undefined where there is no such day
 */
export function startOfDay(day: string, zone: string, plusDays = 0): string | undefined {
  const midnightUtc = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnightUtc.getTime())) return undefined;
  midnightUtc.setUTCDate(midnightUtc.getUTCDate() + plusDays);
  // The offset at midnight UTC differs from that at the day's beginning where the clocks change in between.
  const nearly = midnightUtc.getTime() - offsetMs(midnightUtc, zone);
  return new Date(midnightUtc.getTime() - offsetMs(new Date(nearly), zone)).toISOString();
}

/** How far a zone is ahead of UTC at a moment, in milliseconds. */
function offsetMs(date: Date, zone: string): number {
  const name = offsetFormat(zone)
    .formatToParts(date)
    .find(({ type }) => type === "timeZoneName")?.value;
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(name ?? "") ?? [];
  return (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === "-" ? -1 : 1) * 60_000;
}

/** Creating one costs at least 30 µs, and the days of a year need hundreds. */
const offsetFormat = cache(
  (zone: string) => new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" }),
);
