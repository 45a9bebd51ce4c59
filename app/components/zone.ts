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
    if (error instanceof RangeError) return "UTC"; // a cookie is anybody's text
    throw error;
  }
});

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
  const name = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" })
    .formatToParts(midnightUtc)
    .find(({ type }) => type === "timeZoneName")?.value;
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(name ?? "") ?? [];
  const offsetMinutes = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === "-" ? -1 : 1);
  return new Date(midnightUtc.getTime() - offsetMinutes * 60_000).toISOString();
}
