import { expect, test } from "vitest";
import { bestOfThree } from "../support/pulse.ts";
import { makeUser, owner, post, provideServer, someAddress } from "../support/server.ts";

const server = await provideServer({ worker: false, environment: { AUTH_RATE_LIMIT: "off" } });
await makeUser();

/** How long a wrong password takes to be refused, in ms. */
async function measureTime(email: string): Promise<number> {
  const from = { Origin: server.url, "X-Forwarded-For": someAddress() };
  const asked = performance.now();
  const response = await post(server, "/api/auth/sign-in/email", { email, password: "wrong, and long enough" }, from);
  await response.arrayBuffer();
  expect(response.status).toBe(401);
  return performance.now() - asked;
}

const quantile = (times: number[], part: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;

// A hash takes 200 ms. What told them apart once was 7 to 10 ms, at the tenth of the times.
test("a wrong password takes as long for a known address as for an unknown one", {
  ...bestOfThree,
  timeout: 300_000,
}, async ({ annotate }) => {
  const times = { known: [] as number[], unknown: [] as number[] };
  for (let pair = 0; pair < 100; pair += 1) {
    const both = ["known", "unknown"] as const;
    for (const one of pair % 2 === 0 ? both : both.toReversed())
      times[one].push(await measureTime(one === "known" ? owner.email : `nobody${pair}@example.org`));
  }
  const differences = [0.1, 0.5].map((part) => quantile(times.known, part) - quantile(times.unknown, part));
  const [tenth = 0, half = 0] = differences;
  await annotate(`known minus unknown: ${tenth.toFixed(1)} ms at p10, ${half.toFixed(1)} ms at p50, of 100 pairs`);
  expect(Math.abs(tenth)).toBeLessThan(4);
});
