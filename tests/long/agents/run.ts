// `npm run test:agents [-- --agent NAME] [-- --scene NAME] [-- --write] [-- --keep]`: runs real agents against a stand-in for their
// models' APIs, sends their files to a Spoor, and compares what this shows with what the API saw. Exits with 1 where a cell is
// another one than in the table of docs/agents.md, unless it writes the table. AGENTS_FOLDER names a folder that keeps the agents.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listenForStop } from "#server/commands/command";
import { type Agent, agents, getVersion } from "./agents.ts";
import { openArchive } from "./archive.ts";
import { compare } from "./compare.ts";
import { install } from "./install.ts";
import { play } from "./play.ts";
import { type Scene, scenes } from "./scenes.ts";
import { type Cells, draw, lacking, readCells, toCell, writeCells } from "./table.ts";

const { values } = parseArgs({
  options: {
    agent: { type: "string", multiple: true },
    scene: { type: "string", multiple: true },
    write: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    seconds: { type: "string", default: "5400" },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const until = AbortSignal.any([listenForStop(), AbortSignal.timeout(Number(values.seconds) * 1000)]);
const wanted = agents.filter(({ folder }) => values.agent?.includes(folder) ?? true);
const wantedScenes = Object.entries(scenes).filter(([name]) => values.scene?.includes(name) ?? true);

const folder = await mkdtemp(join(tmpdir(), "spoor-agents-"));
const packages = process.env.AGENTS_FOLDER ?? join(folder, "packages");
const documented = await readCells();
const seen: Cells = new Map(wanted.map(({ name }) => [name, new Map()]));
const archive = await openArchive();
let differing = 0;
try {
  for (const agent of wanted) {
    until.throwIfAborted();
    const installed = await install(agent, packages);
    if ("reason" in installed) say(`${agent.name} ${getVersion(agent)} is skipped: ${installed.reason}`);
    else await runScenes(agent, installed.command);
  }
  say(draw(seen));
  if (differing > 0 && !values.write)
    say(`${differing} cells are others than in docs/agents.md: mend what is wrong, or use --write.`);
} finally {
  if (values.write) await writeCells(seen);
  await archive.close();
  if (values.keep) say(`The homes are in ${folder}.`);
  else await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
process.exit(differing > 0 && !values.write ? 1 : 0);

async function runScenes(agent: Agent, command: string): Promise<void> {
  for (const [name, scene] of wantedScenes) {
    until.throwIfAborted();
    const place = join(folder, agent.folder, name.replaceAll(" ", "-"));
    const cell =
      scene.needs && agent.lacks?.includes(scene.needs) ? lacking : await runScene(agent, command, scene, place);
    const before = documented.get(agent.name)?.get(name) ?? "";
    if (before && cell !== before) differing += 1;
    seen.get(agent.name)?.set(name, cell);
    say(`${agent.name}, ${name}: ${cell}${cell === before ? "" : ` (documented: ${before || "nothing"})`}`);
  }
}

async function runScene(agent: Agent, command: string, scene: Scene, place: string): Promise<string> {
  await mkdir(place, { recursive: true });
  const played = await play(agent, command, scene, place);
  if (played.exchanges.length === 0) {
    say(`  it asked nothing: ${played.output}`);
    return "did not run";
  }
  const found = compare(agent, scene, played, await archive.push(played.home));
  for (const [aspect, text] of found) say(`  ${aspect}: ${text}`);
  if (!values.keep) await rm(place, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  return toCell(found);
}
