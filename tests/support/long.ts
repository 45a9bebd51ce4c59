import { test } from "vitest";

/** True in `npm run test:long`. */
export const isLong = process.env.LONG_TESTS === "on";

/** For tests that wait for seconds or repeat another test at more sizes; `npm test` skips them. */
export const longTest = test.skipIf(!isLong);
