const formats = new Map<string, Intl.DateTimeFormat>();

/** A format for a zone, made once: making one takes longer than a hundred uses. */
function format(timeZone: string, name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${name} ${timeZone}`;
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-GB", { timeZone, ...options });
  if (formats.size > 1000) formats.clear(); // a zone is what a cookie says, within the names that there are
  formats.set(key, made);
  return made;
}

/** "14:02" */
export const clockOf = (at: string, zone: string) =>
  format(zone, "clock", { hour: "2-digit", minute: "2-digit" }).format(new Date(at));

/** "3 March 2026" */
export const dayOf = (at: string, zone: string) =>
  format(zone, "day", { day: "numeric", month: "long", year: "numeric" }).format(new Date(at));

/** "3 Mar 2026, 14:02:07 CET" */
export const momentOf = (at: string, zone: string) =>
  format(zone, "moment", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  }).format(new Date(at));

/** "3 h 12 min", "2 days": of two units at most. */
export function spanOf(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.round(hours / 24);
  return days === 1 ? "1 day" : `${days.toLocaleString("en")} days`;
}

/** "38 ms", "4 s", "3 min": how long something took. */
export function durationOf(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  return seconds < 60 ? `${Math.round(seconds)} s` : spanOf(seconds);
}
