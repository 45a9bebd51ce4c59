// `npm run prove:usage [-- HOME]`: compares what this project makes of sessions with what two other tools make of the same files,
// by agent, model and day. Without a home it uses the made-up one (home.ts). The tools are no dependency of this project:
//   npm install --prefix FOLDER ccusage@VERSION @tokscale/core@VERSION, then PROOF_TOOLS=FOLDER npm run prove:usage
// `-- --homes COUNT` compares all three with what is true of so many random homes (random/).
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeBelow } from "../cli/home.ts";
import { usageHome } from "./home.ts";
import { compareHomes } from "./random/run.ts";
import { ourSums, type Sum, type Sums } from "./sums.ts";
import { ccusageSums, tokscaleSums, versions } from "./tools.ts";

const say = (line: string) => process.stdout.write(`${line}\n`);
const folder = process.env.PROOF_TOOLS;
const install = Object.entries(versions).map((entry) => entry.join("@"));
if (!folder || !existsSync(join(folder, "node_modules/.bin/ccusage"))) {
  say(`Skipped: PROOF_TOOLS must name a folder into which you ran: npm install --prefix FOLDER ${install.join(" ")}`);
  process.exit(0);
}

const tokens = ({ input, output, cacheRead, cacheWrite }: Sum) => [input, output, cacheRead, cacheWrite].join(" ");
const dollars = ({ nano }: Sum) => (nano === undefined ? "-" : `$${(Number(nano) / 1e9).toFixed(6)}`);

/** Prints each line of each tool that differs. @returns 1 where tokens do, for which the table of docs/usage-proof.md has to tell why */
function compare(ours: Sums, tools: Record<string, Sums>): number {
  let differing = 0;
  const keys = [...new Set([ours, ...Object.values(tools)].flatMap((sums) => [...sums.keys()]))].sort();
  say("agent, model, day: input, output, cache read, cache write; cost");
  for (const key of keys) {
    const our = ours.get(key);
    say(`${key}\n  spoor     ${our ? `${tokens(our)}  ${dollars(our)}` : "nothing"}`);
    for (const [tool, sums] of Object.entries(tools)) {
      const their = sums.get(key);
      const same = our && their && tokens(our) === tokens(their);
      if (!same) differing += 1;
      const money = their?.nano === undefined || !our || their.nano === our.nano ? "" : "  <- the cost differs";
      const told = their ? `${tokens(their)}  ${dollars(their)}` : "nothing";
      say(`  ${tool.padEnd(10)}${told}${same ? "" : "  <- the tokens differ"}${money}`);
    }
  }
  say(`${differing} of ${keys.length * Object.keys(tools).length} sums of tokens differ.`);
  return differing === 0 ? 0 : 1;
}

if (process.argv[2] === "--homes") {
  const [count = "200", ...states] = process.argv.slice(3);
  process.exit((await compareHomes(resolve(folder), Number(count), states)) === 0 ? 0 : 1);
}

const given = process.argv[2];
const home = given === undefined ? await mkdtemp(join(tmpdir(), "spoor-proof-")) : resolve(given);
try {
  if (given === undefined) {
    for (const [path, content] of usageHome()) {
      await writeBelow(home, path, content);
      await sleep(20); // of two files with the same lines the older one is the original
    }
  }
  process.exitCode = compare(await ourSums({ home, cwd: home, env: {}, platform: "linux" }), {
    ccusage: await ccusageSums(resolve(folder), home),
    tokscale: tokscaleSums(resolve(folder), home),
  });
} finally {
  if (given === undefined) await rm(home, { recursive: true, force: true });
}
