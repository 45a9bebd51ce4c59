import { addDays } from "#lib/usage/days";
import { formatDate, isoDay } from "../../components/values/date-format";

/** "14:02" today, "yesterday, 18:04", "Tuesday, 18:04" within a week, "3 March" before. */
export function sinceText(since: Date, now: Date, zone: string): string {
  const clock = formatDate(since, zone, { hour: "2-digit", minute: "2-digit" });
  const [day, today] = [isoDay(since, zone), isoDay(now, zone)];
  if (day === today) return clock;
  if (day === addDays(today, -1)) return `yesterday, ${clock}`;
  if (day > addDays(today, -7)) return `${formatDate(since, zone, { weekday: "long" })}, ${clock}`;
  return formatDate(since, zone, { day: "numeric", month: "long" });
}

/** "6 h 15 min"; at least one minute. */
export function timeText(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours > 0 && `${hours} h`, (rest > 0 || hours === 0) && `${rest} min`].filter(Boolean).join(" ");
}

export const inWords = (names: string[]): string =>
  names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
