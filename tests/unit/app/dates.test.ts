import { expect, test } from "vitest";
import { instant } from "#lib/core/fields";
import { addDays, getDayStart } from "#lib/usage/days";
import { parseFilterDay, readListParams } from "../../../app/(app)/traces/filters/filters.ts";
import { isoDay } from "../../../app/components/values/date-format.ts";

test.each([
  ["2016-12-31T23:59:60Z", "2017-01-01"],
  ["2026-01-01T00:00:00+02", "2025-12-31"],
  ["2026-01-01T00:00:00,5Z", "2026-01-01"],
  ["2026-01-01t00:00z", "2026-01-01"],
  ["0001-01-01T00:00:00Z", "0001-01-01"],
])("a filter's moment has a day, in each form that a filter takes: %s", (moment, day) => {
  expect(instant.safeParse(moment).success).toBe(true);
  expect(parseFilterDay(moment, "UTC")).toBe(day);
});

test("a filter's day is the day of its field", () => {
  expect(parseFilterDay("2026-03-02", "Asia/Tokyo")).toBe("2026-03-02");
  expect(parseFilterDay(undefined, "Asia/Tokyo")).toBeUndefined();
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
  expect(getDayStart(day, zone)).toBe(start);
  expect(getDayStart(addDays(day, -1), zone, 1)).toBe(start);
});

test.each([
  ["America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z"], // from one to midnight
  ["Asia/Amman", "2021-10-29", "2021-10-28T21:00:00.000Z"], // from one to midnight
  ["Asia/Chita", "2014-10-26", "2014-10-25T14:00:00.000Z"], // from two to midnight
  ["Antarctica/Casey", "2023-03-09", "2023-03-08T13:00:00.000Z"], // from three to midnight
  ["Africa/Cairo", "2026-10-30", "2026-10-29T22:00:00.000Z"], // from midnight to eleven
  ["Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000Z"], // a day that never was
])("a day begins at its first midnight where there are two: %s on %s", (zone, day, start) => {
  expect(getDayStart(day, zone)).toBe(start);
  expect(getDayStart(addDays(day, -1), zone, 1)).toBe(start);
});

test("a day begins at its first moment around each change of the clocks of a year, in every zone", () => {
  const wrong: string[] = [];
  const isFirst = (zone: string, day: string) => {
    const start = Date.parse(getDayStart(day, zone) ?? "");
    return isoDay(new Date(start), zone) === day && isoDay(new Date(start - 1), zone) === addDays(day, -1);
  };
  for (const timeZone of Intl.supportedValuesOf("timeZone")) {
    const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
    const offset = (day: string) => format.format(new Date(`${day}T12:00:00Z`)).split(", ")[1];
    for (let week = "2026-01-01"; week < "2027-01-01"; week = addDays(week, 7)) {
      if (offset(week) === offset(addDays(week, 7))) continue;
      for (let day = week; day <= addDays(week, 8); day = addDays(day, 1))
        if (!isFirst(timeZone, day)) wrong.push(`${timeZone} ${day}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("a day that does not exist has no beginning", () => {
  for (const day of ["2026-02-29", "2026-02-30", "2026-13-01", "2026-04-31"]) {
    expect(getDayStart(day, "UTC")).toBeUndefined();
    expect(readListParams({ from: day }, "Europe/Berlin").ignored).toEqual(["from"]);
  }
  expect(getDayStart("2028-02-29", "UTC", 1)).toBe("2028-03-01T00:00:00.000Z");
});
