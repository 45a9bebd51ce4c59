// Random homes of several agents, and in which states of files other tools are known to count otherwise.
import { setTimeout as sleep } from "node:timers/promises";
import { writeBelow } from "../../cli/home.ts";
import { addClaude } from "./claude.ts";
import { addCodex } from "./codex.ts";
import { addCopilot, addGemini, addOpenCode, addPi, addQwen } from "./others.ts";
import { World } from "./world.ts";

/** Makes a home. @param only the states of files that may come up; all without it */
export function makeWorld(seed: number, only?: ReadonlySet<string>): World {
  const world = new World(seed, only);
  addClaude(world);
  addCodex(world);
  for (const add of [addGemini, addQwen, addOpenCode, addPi, addCopilot]) if (world.chance(60)) add(world);
  return world;
}

/** Writes a home's files in the order in which they came to be: of two with the same lines the older one is the original. */
export async function writeWorld(world: World, home: string): Promise<void> {
  for (const [path, text] of world.files) {
    await writeBelow(home, path, text);
    if (path.startsWith(".claude")) await sleep(3);
  }
}

/** By tool, agent and state of the files: docs/usage-proof.md says what is another there, and who is right. */
const known: Record<string, Record<string, string[]>> = {
  ccusage: {
    "claude-code": ["compaction", "fallback", "ids: none", "ids: no request id", "ids: reused", "spaced", "broken"],
    "gemini-cli": ["thoughts"],
    opencode: ["thoughts", "opencode fork"],
    pi: ["pi fork"],
    "qwen-code": ["cached"],
    "copilot-cli": ["copilot records"],
  },
  tokscale: {
    "claude-code": [
      "advisor",
      "compaction",
      "fallback",
      "streamed",
      "ids: none",
      "ids: no request id",
      "ids: reused",
      "broken",
    ],
    "codex-cli": ["repeated total", "fork", "cache write"],
    "gemini-cli": ["cached", "thoughts"],
    opencode: ["thoughts", "opencode fork"],
  },
};
/** Agents that a tool does not read. */
const unread: Record<string, string[]> = { tokscale: ["pi", "qwen-code", "copilot-cli"] };

/** Tells why a tool's sum may be another one: none where nothing is known to. @param key the sum's */
export function listReasons(tool: string, key: string, { kinds }: World): string[] {
  const [agent = ""] = key.split(" ");
  const states = unread[tool]?.includes(agent)
    ? ["not read"]
    : (known[tool]?.[agent]?.filter((kind) => kinds.get(key)?.has(kind)) ?? []);
  return states.map((state) => `${agent}, ${state}`);
}
