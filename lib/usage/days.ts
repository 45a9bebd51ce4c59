// Calendar days in time zones.

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
  // `Date` takes the 30th of February for a day of March.
  if (Number.isNaN(midnightUtc.getTime()) || midnightUtc.toISOString().slice(0, 10) !== day) return undefined;
  midnightUtc.setUTCDate(midnightUtc.getUTCDate() + plusDays);
  // The offset at midnight UTC differs from that at the day's beginning where the clocks change in between.
  const nearly = midnightUtc.getTime() - offsetMs(midnightUtc, zone);
  const start = new Date(midnightUtc.getTime() - offsetMs(new Date(nearly), zone));
  // Where the clocks go from midnight to one, no moment is midnight, and the day begins at one.
  return (dayAt(start, zone) < isoDayOf(midnightUtc) ? new Date(nearly) : start).toISOString();
}

const isoDayOf = (date: Date) => date.toISOString().slice(0, 10);

/** The calendar day of a moment in a zone. */
export const dayAt = (moment: Date, zone: string): string =>
  isoDayOf(new Date(moment.getTime() + offsetMs(moment, zone)));

/** How far a zone is ahead of UTC at a moment, in milliseconds. */
function offsetMs(date: Date, zone: string): number {
  const name = offsetFormat(zone)
    .formatToParts(date)
    .find(({ type }) => type === "timeZoneName")?.value;
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(name ?? "") ?? [];
  return (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === "-" ? -1 : 1) * 60_000;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const maxFormats = 100;

/** Creating one costs at least 30 µs, and the days of a year need hundreds. */
function offsetFormat(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  if (formats.size >= maxFormats) formats.clear();
  const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
  formats.set(zone, format);
  return format;
}
