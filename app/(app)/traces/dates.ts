import { isoDay } from "../../components/date-format";

/** The spans that one asks for most, each with the first of its days in the reader's zone; today is the last one. */
export function datePresets(zone: string, now: Date): { label: string; from: string }[] {
  const today = Date.parse(`${isoDay(now, zone)}T00:00:00Z`);
  const daysAgo = (days: number) => new Date(today - days * 86_400_000).toISOString().slice(0, 10);
  return [
    { label: "Today", from: daysAgo(0) },
    { label: "Last 7 days", from: daysAgo(6) },
    { label: "Last 30 days", from: daysAgo(29) },
  ];
}
