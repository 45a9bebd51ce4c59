import { parseInstant } from "#lib/core/fields";
import { addDays } from "#lib/usage/days";
import { isoDay } from "../../../components/values/date-format";

export type DatePreset = { label: string; from: string };

export function datePresets(zone: string, now: Date): DatePreset[] {
  const today = isoDay(now, zone);
  return [
    { label: "Today", from: today },
    { label: "Last 7 days", from: addDays(today, -6) },
    { label: "Last 30 days", from: addDays(today, -29) },
  ];
}

/** A link from another page may contain a moment; the fields take days only. */
export function parseFilterDay(value: string | undefined, zone: string): string | undefined {
  if (value === undefined || value.length === 10) return value;
  const at = parseInstant(value); // `Date` does not accept all formats of the filter
  return at === null ? undefined : isoDay(new Date(at), zone);
}
