import { expect, test } from "vitest";
import { makeHome } from "../cli/home.ts";
import { makeWorld, writeWorld } from "../proof/random/homes.ts";
import { differences } from "../proof/random/world.ts";
import { longTest } from "../support/long.ts";
import { provideOwner } from "../support/server.ts";
import { readSums, sendSessions } from "./sent-home.ts";

const { userId } = await provideOwner();

/** Sends a random home. @returns how the ledger's sums of tokens differ from the truth */
async function sendHome(seed: number): Promise<string[]> {
  const world = makeWorld(seed);
  const host = await makeHome();
  await writeWorld(world, host.home);
  const sums = await readSums(userId, await sendSessions(userId, host));
  for (const sum of sums.values()) sum.nano = undefined; // nobody knows the money
  return differences(sums, world.truth);
}

test("the ledger counts every token of a random home once", async () => {
  for (const seed of [25, 28, 30]) expect([seed, await sendHome(seed)]).toEqual([seed, []]);
});

longTest("so it does those of 100 random homes", { timeout: 900_000 }, async () => {
  for (let seed = 3000; seed < 3100; seed++) expect([seed, await sendHome(seed)]).toEqual([seed, []]);
});
