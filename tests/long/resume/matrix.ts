// The matrix of docs/resume.md: a row for each proof, a column for each agent.
import { readFile } from "node:fs/promises";
import { getVersion } from "../agents/agents.ts";
import { resumable } from "./agents.ts";
import { type Proofs, proven, rows } from "./prove.ts";

const file = new URL("../../../docs/resume.md", import.meta.url);
const none = "–";

/** By row, as the documentation has it. */
export const draw = (proofs: Proofs): Map<string, string> =>
  new Map(
    rows.map((row) => {
      const outcome = proofs.get(row) ?? none;
      return [row, outcome === proven || outcome === none ? outcome : "no"];
    }),
  );

/** The documented cells of the agents at their pinned versions, by agent and row. */
export async function readCells(): Promise<Map<string, Map<string, string>>> {
  const text = await readFile(file, "utf8");
  const table = text.split("\n").filter((line) => line.startsWith("| "));
  const parse = (line: string) =>
    line
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim());
  const at = table.findIndex((line) => resumable.every((agent) => line.includes(`${agent.name} ${getVersion(agent)}`)));
  const head = at < 0 ? [] : parse(table[at] ?? "");
  return new Map(
    resumable.map((agent) => {
      const column = head.indexOf(`${agent.name} ${getVersion(agent)}`);
      const cells = rows.map((row): [string, string] => {
        const found = table
          .slice(at)
          .map(parse)
          .find(([name]) => name === row);
        return [row, found?.[column] ?? ""];
      });
      return [agent.name, new Map(cells)];
    }),
  );
}
