import { expect, test } from "vitest";
import { makeWorld, writeWorld } from "../proof/random/homes.ts";
import { differences } from "../proof/random/world.ts";
import { ourSums } from "../proof/sums.ts";
import { longTest } from "../support/long.ts";
import { makeHome } from "./home.ts";

async function readHome(seed: number): Promise<string[]> {
  const world = makeWorld(seed);
  const host = await makeHome();
  await writeWorld(world, host.home);
  return differences(await ourSums(host), world.truth);
}

const readHomes = async (from: number, to: number) => {
  const wrong: [number, string[]][] = [];
  for (let seed = from; seed < to; seed++) {
    const found = await readHome(seed);
    if (found.length > 0) wrong.push([seed, found]);
  }
  return wrong;
};

test("every token of a random home counts once, in its model and on its day, whatever its files repeat or lack", async () => {
  expect(await readHomes(0, 8)).toEqual([]);
});

longTest("so do those of 1,000 random homes", { timeout: 600_000 }, async () => {
  expect(await readHomes(1000, 2000)).toEqual([]);
});
