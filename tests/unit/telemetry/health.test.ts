import { describe, expect, test } from "vitest";
import { compareVersions, computeShares, judge, share, type VersionHealth } from "#lib/telemetry/health";

const health = (more: Partial<VersionHealth> = {}): VersionHealth => ({
  cliVersion: "1.4.2",
  scans: 10,
  entries: 1000,
  skipped: 0,
  invalid: 0,
  traces: 100,
  rejected: 0,
  emptyParses: 0,
  seenAt: new Date(0),
  ...more,
});

test("versions are ordered as SemVer, also incomplete ones", () => {
  const ordered = ["", "dev", "0.9", "1.4.1", "1.4.2-beta.2", "1.4.2-beta.10", "1.4.2", "v1.4.10", "1.10.0+build"];
  expect([...ordered].sort(compareVersions)).toEqual(ordered);
  expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered);
});

test("a share is between 0 and 1, whatever a client reports", () => {
  expect([share(0, 0), share(5, 0), share(1, 4), share(9, 4), share(2 ** 53, 1)]).toEqual([0, 1, 0.25, 1, 1]);
  expect(computeShares(health({ skipped: 10, invalid: 40, rejected: 100, emptyParses: 1 }))).toEqual({
    empty: 0.1,
    lost: 0.04,
    rejected: 0.5,
  });
});

describe("an adapter's newest version", () => {
  test.each<[Partial<VersionHealth>, Partial<VersionHealth> | undefined, string, string]>([
    [{ emptyParses: 10 }, {}, "broke", "empty"],
    [{ invalid: 700 }, { invalid: 100 }, "broke", "lost"],
    [{ rejected: 900, emptyParses: 4 }, {}, "broke", "rejected"],
    [{ invalid: 24 }, { invalid: 1 }, "worse", "lost"],
    [{ invalid: 24 }, { invalid: 20 }, "same", "lost"],
    [{ invalid: 2 }, { invalid: 1 }, "same", "lost"],
    [{ invalid: 1 }, { invalid: 400 }, "better", "lost"],
    [{ skipped: 570 }, { skipped: 1 }, "same", "empty"],
    [{}, {}, "same", "empty"],
    [{ emptyParses: 10 }, undefined, "first", "empty"],
  ])("with %j after %j is judged: %s (%s)", (latest, before, change, about) => {
    expect(judge(health(latest), before && health(before))).toMatchObject({ change, about });
  });
});
