// `npm run test:resume [-- --agent NAME] [-- --keep]`: has real agents, against a stand-in for their models' APIs, go on with
// sessions that `spoor resume` took out of a Spoor, and compares what they send with what they would have sent. Exits with 1 where
// something is not as docs/resume.md says. AGENTS_FOLDER names a folder that keeps the agents.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listenForStop } from "#server/commands/command";
import { getVersion } from "../agents/agents.ts";
import { openArchive } from "../agents/archive.ts";
import { install } from "../agents/install.ts";
import { resumable } from "./agents.ts";
import { draw, readCells } from "./matrix.ts";
import { prove } from "./prove.ts";

const { values } = parseArgs({
  options: { agent: { type: "string", multiple: true }, keep: { type: "boolean", default: false } },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const until = AbortSignal.any([listenForStop(), AbortSignal.timeout(3_600_000)]);
const folder = await mkdtemp(join(tmpdir(), "spoor-resume-"));
const packages = process.env.AGENTS_FOLDER ?? join(folder, "packages");
const documented = await readCells();
const archive = await openArchive();
let differing = 0;
try {
  for (const agent of resumable) {
    until.throwIfAborted();
    if (values.agent && !values.agent.includes(agent.folder)) continue;
    const installed = await install(agent, packages);
    if ("reason" in installed) {
      say(`${agent.name} ${getVersion(agent)} is skipped: ${installed.reason}`);
      continue;
    }
    const place = join(folder, agent.folder);
    await mkdir(place);
    const proofs = await prove(agent, installed.command, archive, place);
    for (const [row, outcome] of proofs) say(`${agent.name}, ${row}: ${outcome}`);
    const cells = draw(proofs);
    for (const [row, cell] of cells) {
      const before = documented.get(agent.name)?.get(row);
      if (cell === before) continue;
      differing += 1;
      say(`${agent.name}, ${row} is ${cell}, and docs/resume.md says ${before ?? "nothing"}.`);
    }
  }
} finally {
  await archive.close();
  if (values.keep) say(`The homes are in ${folder}.`);
  else await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
process.exit(differing > 0 ? 1 : 0);
