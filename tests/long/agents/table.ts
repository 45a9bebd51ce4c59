// The table of docs/agents.md: a row for each scene, a column for each agent.
import { readFile, writeFile } from "node:fs/promises";
import { type Agent, agents, versionOf } from "./agents.ts";
import type { Differences } from "./compare.ts";
import { scenes } from "./scenes.ts";

/** By agent and scene; nothing where the agent did not run. */
export type Cells = Map<string, Map<string, string>>;

const file = new URL("../../../docs/agents.md", import.meta.url);
const [begin, end] = ["<!-- What `npm run test:agents -- --write` saw -->\n", "<!-- The end of it -->\n"];

export const cellOf = (found: Differences): string => (found.size === 0 ? "exact" : [...found.keys()].join(", "));
export const lacking = "–";

const row = (cells: string[]) => `| ${cells.join(" | ")} |\n`;

export function draw(cells: Cells): string {
  const of = (agent: Agent, scene: string) => cells.get(agent.name)?.get(scene) ?? "";
  return [
    row(["", ...agents.map((agent) => `${agent.name} ${versionOf(agent)}`)]),
    row(["---", ...agents.map(() => "---")]),
    ...Object.keys(scenes).map((scene) => row([scene, ...agents.map((agent) => of(agent, scene))])),
    row(["in no file", ...agents.map(({ unrecorded }) => unrecorded?.join(", ") || lacking)]),
  ].join("");
}

/** The cells that the documentation has. */
export async function readCells(): Promise<Cells> {
  const [, table = ""] = (await readFile(file, "utf8")).split(begin);
  const [head = [], , ...rows] = (table.split(end)[0] ?? "")
    .trim()
    .split("\n")
    .map((line) => line.slice(2, -2).split(" | "));
  return new Map(
    agents.map((agent) => {
      const column = head.indexOf(`${agent.name} ${versionOf(agent)}`);
      return [
        agent.name,
        new Map(rows.flatMap((cells) => (column < 0 ? [] : [[cells[0] ?? "", cells[column] ?? ""]]))),
      ];
    }),
  );
}

/** Writes the cells of the agents that ran; the others stay. */
export async function writeCells(seen: Cells): Promise<void> {
  const cells = new Map(
    [...(await readCells())].map(([name, column]) => [name, new Map([...column, ...(seen.get(name) ?? [])])]),
  );
  const text = await readFile(file, "utf8");
  const [before, rest = ""] = text.split(begin);
  await writeFile(file, `${before}${begin}\n${draw(cells)}\n${end}${rest.split(end)[1]}`);
}
