export type Parts = Omit<Intl.DateTimeFormatOptions, "timeZone">;

const formatters = new Map<string, Intl.DateTimeFormat>();
const maxFormatters = 100;

/** Caches formatters: creating one takes eighty times as long as using it. */
export function formatDate(date: Date, timeZone: string, parts: Parts, locale = "en-GB"): string {
  const key = [locale, timeZone, ...Object.entries(parts).flat()].join();
  let formatter = formatters.get(key);
  if (!formatter) {
    if (formatters.size >= maxFormatters) formatters.clear();
    formatter = new Intl.DateTimeFormat(locale, { ...parts, timeZone });
    formatters.set(key, formatter);
  }
  return formatter.format(date);
}

/** Returns `YYYY-MM-DD`, also for years before 1000: `0001-01-01` is Go's zero time. */
export const isoDay = (date: Date, timeZone: string): string =>
  formatDate(date, timeZone, {}, "en-CA").padStart("YYYY-MM-DD".length, "0");

const longParts: Parts = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
};

export const longTime = (date: Date, timeZone: string): string => formatDate(date, timeZone, longParts);

/** "14:02" */
export const formatClock = (at: string, zone: string) =>
  formatDate(new Date(at), zone, { hour: "2-digit", minute: "2-digit" });

/** "3 March 2026" */
export const formatDay = (at: string, zone: string) =>
  formatDate(new Date(at), zone, { day: "numeric", month: "long", year: "numeric" });

/** "3 h 12 min", "2 days": at most two units. */
export function formatSpan(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.round(hours / 24);
  return days === 1 ? "1 day" : `${days.toLocaleString("en")} days`;
}

/** "38 ms", "4 s", "3 min" */
export function formatMilliseconds(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  return seconds < 60 ? `${Math.round(seconds)} s` : formatSpan(seconds);
}
