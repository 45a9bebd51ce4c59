// `npm run prove:usage -- --homes COUNT [STATE…]`: compares this project and two other tools with what is true of random homes.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ourSums } from "../sums.ts";
import { ccusageNames, ccusageSums, tokscaleSums } from "../tools.ts";
import { listReasons, makeWorld, writeWorld } from "./homes.ts";
import { differences, type World } from "./world.ts";

const say = (line: string) => process.stdout.write(`${line}\n`);

/** `known` counts a sum with several states of files at each. */
type Tally = { equal: number; explained: number; known: Map<string, number>; unknown: number };

/** @param folder where the tools are installed @returns how many sums differ without a known reason */
export async function compareHomes(folder: string, count: number, only: string[]): Promise<number> {
  const tallies = new Map(["spoor", "ccusage", "tokscale"].map((tool) => [tool, newTally()]));
  for (let seed = 0; seed < count; seed++) {
    const world = makeWorld(seed, only.length > 0 ? new Set(only) : undefined);
    for (const [tool, list] of Object.entries(await compareHome(folder, world))) {
      const tally = tallies.get(tool) ?? newTally();
      tally.equal += world.truth.size - list.length;
      for (const one of list) judge(tool, seed, one, { world, tally });
    }
  }
  for (const [tool, { equal, explained, known, unknown }] of tallies) {
    say(`${tool}: ${equal} sums are equal to the truth, ${explained} differ as known, ${unknown} for no known reason`);
    for (const [reason, times] of [...known].sort((a, b) => b[1] - a[1])) say(`  ${times} with ${reason}`);
  }
  return [...tallies.values()].reduce((sum, { unknown }) => sum + unknown, 0);
}

const newTally = (): Tally => ({ equal: 0, explained: 0, known: new Map(), unknown: 0 });

function judge(tool: string, seed: number, difference: string, { world, tally }: { world: World; tally: Tally }): void {
  const key = difference.slice(0, difference.indexOf(":"));
  const reasons = listReasons(tool, key, world);
  for (const reason of reasons) tally.known.set(reason, (tally.known.get(reason) ?? 0) + 1);
  if (reasons.length > 0) {
    tally.explained += 1;
    return;
  }
  tally.unknown += 1;
  say(`home ${seed}, ${tool}: ${difference} (${[...(world.kinds.get(key) ?? [])].join(", ")})`);
}

async function compareHome(folder: string, world: World): Promise<Record<string, string[]>> {
  const home = await mkdtemp(join(tmpdir(), "spoor-proof-"));
  try {
    await writeWorld(world, home);
    const agents = new Set([...world.truth.keys()].map((key) => key.split(" ")[0] ?? ""));
    const all = {
      spoor: await ourSums({ home, cwd: home, env: {}, platform: "linux" }),
      ccusage: await ccusageSums(folder, home, ccusageNames(agents)),
      tokscale: tokscaleSums(folder, home),
    };
    return Object.fromEntries(Object.entries(all).map(([tool, sums]) => [tool, differences(sums, world.truth)]));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
