import { expect, test } from "vitest";
import { instant } from "#lib/fields";
import { dayOfFilter } from "../../app/(app)/traces/dates.ts";

test.each([
  ["2016-12-31T23:59:60Z", "2017-01-01"],
  ["2026-01-01T00:00:00+02", "2025-12-31"],
  ["2026-01-01T00:00:00,5Z", "2026-01-01"],
  ["2026-01-01t00:00z", "2026-01-01"],
])("a filter's moment has a day, in each form that a filter takes: %s", (moment, day) => {
  expect(instant.safeParse(moment).success).toBe(true);
  expect(dayOfFilter(moment, "UTC")).toBe(day);
});

test("a filter's day is the day of its field", () => {
  expect(dayOfFilter("2026-03-02", "Asia/Tokyo")).toBe("2026-03-02");
  expect(dayOfFilter(undefined, "Asia/Tokyo")).toBeUndefined();
});
