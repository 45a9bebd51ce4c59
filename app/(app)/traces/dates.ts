import { parseInstant } from "#lib/fields";
import { isoDay } from "../../components/date-format";
import { addDays } from "../../components/zone";

export type DatePreset = { label: string; from: string };

/** Common spans of days that end today, each with its first day in the reader's zone. */
export function datePresets(zone: string, now: Date): DatePreset[] {
  const today = isoDay(now, zone);
  return [
    { label: "Today", from: today },
    { label: "Last 7 days", from: addDays(today, -6) },
    { label: "Last 30 days", from: addDays(today, -29) },
  ];
}

/** The day of a filter's value. A link from another page may contain a moment; the fields take days only. */
export function parseFilterDay(value: string | undefined, zone: string): string | undefined {
  if (value === undefined || value.length === 10) return value;
  const at = parseInstant(value); // `Date` does not read all that a filter takes
  return at === null ? undefined : isoDay(new Date(at), zone);
}
