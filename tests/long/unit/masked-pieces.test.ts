import { describe, test } from "vitest";
import { expectMaskedAsInOne } from "../../unit/secrets/pieced.ts";

describe("secrets and prose in any order, in pieces of any size", { timeout: 60_000 }, () => {
  const seeds = Array.from({ length: 24 }, (_, seed) => seed);
  test.each(seeds)("are masked as in one (%d)", async (seed) => void (await expectMaskedAsInOne(seed, [1, 2])));
});
