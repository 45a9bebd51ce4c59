import { test } from "vitest";

/** Whether this run may take as long as it needs: `npm run test:long`. */
export const isLong = process.env.LONG_TESTS === "on";

/** A test that waits for a limit of seconds, or repeats another at more sizes: it is skipped in `npm test`. */
export const longTest = test.skipIf(!isLong);
