// The table of docs/agents.md, with a row for each agent.
import { readFile, writeFile } from "node:fs/promises";
import { agents, getVersion } from "./agents.ts";
import type { Differences } from "./compare.ts";
import { scenes } from "./scenes.ts";

/** Outcomes by agent and scene; agents that did not run are absent. */
export type Cells = Map<string, Map<string, string>>;

const file = new URL("../../../docs/agents.md", import.meta.url);
const [begin, end] = ["<!-- What `npm run test:agents -- --write` saw -->\n", "<!-- The end of it -->\n"];

export const toCell = (found: Differences): string => (found.size === 0 ? "exact" : [...found.keys()].join(", "));
export const lacking = "–";
const inNoFile = "in no file";

const row = (cells: string[]) => `| ${cells.join(" | ")} |\n`;

/** The most frequent outcome of an agent's scenes, and the scenes of each other one. */
function summarize(column: Map<string, string>): [string, string] {
  const byOutcome = Map.groupBy(
    Object.keys(scenes).filter((scene) => column.has(scene)),
    (scene) => column.get(scene) ?? "",
  );
  const [[usual = ""] = [], ...others] = [...byOutcome].toSorted(([, a], [, b]) => b.length - a.length);
  return [usual, others.map(([outcome, names]) => `${outcome}: ${names.join(", ")}`).join("; ")];
}

export function draw(cells: Cells): string {
  return [
    row(["", "Most scenes", "Other scenes", inNoFile]),
    row(["---", "---", "---", "---"]),
    ...agents
      .filter(({ name }) => cells.has(name))
      .map((agent) =>
        row([
          `${agent.name} ${getVersion(agent)}`,
          ...summarize(cells.get(agent.name) ?? new Map()),
          agent.unrecorded?.join(", ") || lacking,
        ]),
      ),
  ].join("");
}

/** The outcomes that the documentation has. */
export async function readCells(): Promise<Cells> {
  const [, table = ""] = (await readFile(file, "utf8")).split(begin);
  const rows = (table.split(end)[0] ?? "").trim().split("\n").slice(2);
  return new Map(
    agents.map((agent) => {
      const line = rows.find((one) => one.startsWith(`| ${agent.name} ${getVersion(agent)} |`));
      const [, usual = "", others = "", unrecorded = ""] = line?.slice(2, -2).split(" | ") ?? [];
      const column = new Map(line ? Object.keys(scenes).map((scene) => [scene, usual]) : []);
      for (const [outcome = "", names = ""] of others.split("; ").map((part) => part.split(": ")))
        for (const name of names.split(", ").filter(Boolean)) column.set(name, outcome);
      return [agent.name, line ? column.set(inNoFile, unrecorded) : column];
    }),
  );
}

/** Writes the outcomes of the agents that ran; the others stay. */
export async function writeCells(seen: Cells): Promise<void> {
  const cells = new Map(
    [...(await readCells())].map(([name, column]) => [name, new Map([...column, ...(seen.get(name) ?? [])])]),
  );
  const text = await readFile(file, "utf8");
  const [before, rest = ""] = text.split(begin);
  await writeFile(file, `${before}${begin}\n${draw(cells)}\n${end}${rest.split(end)[1]}`);
}
