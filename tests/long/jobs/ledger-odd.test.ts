import { test } from "vitest";
import { expectOddUsage } from "../../jobs/odd-usage.ts";
import { provideOwner } from "../../support/server.ts";

const { userId } = await provideOwner();

test.each([1, 2, 3])("odd usage is summed alike in all places, in forty steps (%i)", (seed) =>
  expectOddUsage(userId, seed, 40),
);
