import { expect, test } from "vitest";
import { sourceFiles } from "../../support/boundaries.ts";

/** They compare it with a point in time that a row, a file, a header or a token has. */
const comparing = [
  "app/api/oauth/register/route.ts",
  "app/components/values/time.tsx",
  "lib/auth/oauth/registration.ts",
  "lib/auth/sign-in/second-factor.ts",
  "lib/auth/sign-in/sign-ins.ts",
  "lib/device/login.ts",
  "lib/http/rate-limit.ts",
  "lib/ingest/masking/sql.ts",
  "lib/ingest/raw/removal.ts",
  "lib/originals/sql.ts",
  "lib/telemetry/post.ts",
  "lib/traces/standing.ts",
  "server/background/housekeeping.ts",
  "server/background/steps.ts",
];

test("no wait of the server's is measured by the wall clock, which may jump", async () => {
  const sources = (await sourceFiles()).filter(
    ({ path, text }) => /^(?:app|lib|server)\/(?!generated\/)/.test(path) && !text.startsWith('"use client"'),
  );
  const reading = sources.filter(({ text }) => /(?<!new Date\()Date\.now\(\)/.test(text)).map(({ path }) => path);
  expect(reading.toSorted()).toEqual(comparing);
});
