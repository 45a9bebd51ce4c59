import { describe, expect, test } from "vitest";
import { makeLedgerPace } from "#server/background/ledger-pace";

describe("the ledger's pace", () => {
  test("lets open uploads and the followers of a large one go first", () => {
    let now = 0;
    const pace = makeLedgerPace(() => now);
    expect([pace.settledSeconds(false), pace.settledSeconds(true)]).toEqual([3, 120]);
    pace.worked(150);
    expect(pace.settledSeconds(false)).toBe(3);
    pace.worked(700);
    expect(pace.settledSeconds(false)).toBe(120);
    now += 4000;
    pace.worked(5);
    expect(pace.settledSeconds(false)).toBe(120);
    now += 1000;
    expect(pace.settledSeconds(false)).toBe(3);
  });
});
