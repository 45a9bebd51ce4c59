import { expect, test } from "vitest";
import { instant } from "#lib/fields";
import { dayOfFilter } from "../../app/(app)/traces/dates.ts";
import { readListParams } from "../../app/(app)/traces/filters.ts";
import { isoDay } from "../../app/components/date-format.ts";
import { addDays, startOfDay } from "../../app/components/zone.ts";

test.each([
  ["2016-12-31T23:59:60Z", "2017-01-01"],
  ["2026-01-01T00:00:00+02", "2025-12-31"],
  ["2026-01-01T00:00:00,5Z", "2026-01-01"],
  ["2026-01-01t00:00z", "2026-01-01"],
  ["0001-01-01T00:00:00Z", "0001-01-01"],
])("a filter's moment has a day, in each form that a filter takes: %s", (moment, day) => {
  expect(instant.safeParse(moment).success).toBe(true);
  expect(dayOfFilter(moment, "UTC")).toBe(day);
});

test("a filter's day is the day of its field", () => {
  expect(dayOfFilter("2026-03-02", "Asia/Tokyo")).toBe("2026-03-02");
  expect(dayOfFilter(undefined, "Asia/Tokyo")).toBeUndefined();
});

test("a day before the year 1000 has four digits for its year, so that it can be counted on from", () => {
  const day = isoDay(new Date("0033-04-03T15:00:00Z"), "UTC");
  expect(day).toBe("0033-04-03");
  expect(addDays(day, -29)).toBe("0033-03-05");
});

test.each([
  ["America/Santiago", "2026-09-06", "2026-09-06T04:00:00.000Z"],
  ["America/Havana", "2026-03-08", "2026-03-08T05:00:00.000Z"],
  ["Atlantic/Azores", "2026-03-29", "2026-03-29T01:00:00.000Z"],
  ["Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z"],
  ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z"],
])("a day begins at one where the clocks go forward at midnight: %s", (zone, day, start) => {
  expect(startOfDay(day, zone)).toBe(start);
  expect(startOfDay(addDays(day, -1), zone, 1)).toBe(start);
});

test("a day that does not exist has no beginning", () => {
  for (const day of ["2026-02-29", "2026-02-30", "2026-13-01", "2026-04-31"]) {
    expect(startOfDay(day, "UTC")).toBeUndefined();
    expect(readListParams({ from: day }, "Europe/Berlin").ignored).toEqual(["from"]);
  }
  expect(startOfDay("2028-02-29", "UTC", 1)).toBe("2028-03-01T00:00:00.000Z");
});
