import { expect, test } from "vitest";
import { agents, getVersion } from "../../long/agents/agents.ts";
import packages from "../../long/agents/packages/package.json" with { type: "json" };
import { scenes } from "../../long/agents/scenes.ts";
import { readCells } from "../../long/agents/table.ts";

test("the documentation's table has every scene of every pinned version of an agent", async () => {
  const cells = await readCells();
  for (const agent of agents) {
    const told = [...(cells.get(agent.name)?.keys() ?? [])];
    expect(told, `${agent.name} ${getVersion(agent)}`).toEqual([...Object.keys(scenes), "in no file"]);
  }
});

test("every pinned package is an agent's, at one version", () => {
  expect(agents.map((agent) => agent.package).sort()).toEqual(Object.keys(packages.dependencies).sort());
  for (const version of Object.values(packages.dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});
