import { isoDay } from "../../components/date-format";
import { addDays } from "../../components/zone";

/** Common spans of days that end today, each with its first day in the reader's zone. */
export function datePresets(zone: string, now: Date): { label: string; from: string }[] {
  const today = isoDay(now, zone);
  return [
    { label: "Today", from: today },
    { label: "Last 7 days", from: addDays(today, -6) },
    { label: "Last 30 days", from: addDays(today, -29) },
  ];
}
