export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/**
 * A day that the zone skipped begins with the next one.
 * @param day `YYYY-MM-DD`
 * @param plusDays 1 for the end of the day
 * @returns ISO 8601 in UTC, or undefined if there is no such day
 */
export function getDayStart(day: string, zone: string, plusDays = 0): string | undefined {
  const midnightUtc = new Date(`${day}T00:00:00Z`);
  // `Date` reads the 30th of February as a day in March.
  if (Number.isNaN(midnightUtc.getTime()) || midnightUtc.toISOString().slice(0, 10) !== day) return undefined;
  midnightUtc.setUTCDate(midnightUtc.getUTCDate() + plusDays);
  const midnight = midnightUtc.getTime();
  // The clocks may change around midnight, so the offset before or after the change, or both, give this time.
  const offsets = [-dayMs, dayMs].map((away) => offsetMs(new Date(midnight + away), zone));
  const [early, late] = [new Date(midnight - Math.max(...offsets)), new Date(midnight - Math.min(...offsets))];
  const wanted = formatDay(midnightUtc);
  // If clocks go back over midnight, the first midnight counts. If they skip midnight, the day begins later, at `late`.
  const isStart =
    early.getTime() === late.getTime() ||
    (dayAt(early, zone) >= wanted && dayAt(new Date(early.getTime() - 1), zone) < wanted);
  return (isStart ? early : late).toISOString();
}

const dayMs = 86_400_000;

const formatDay = (date: Date) => date.toISOString().slice(0, 10);

export const dayAt = (moment: Date, zone: string): string =>
  formatDay(new Date(moment.getTime() + offsetMs(moment, zone)));

/** Positive if the zone is ahead of UTC. */
function offsetMs(date: Date, zone: string): number {
  const name = offsetFormat(zone)
    .formatToParts(date)
    .find(({ type }) => type === "timeZoneName")?.value;
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(name ?? "") ?? [];
  return (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === "-" ? -1 : 1) * 60_000;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const maxFormats = 100;

/** Creating one costs at least 30 µs. */
function offsetFormat(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  if (formats.size >= maxFormats) formats.clear();
  const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
  formats.set(zone, format);
  return format;
}
