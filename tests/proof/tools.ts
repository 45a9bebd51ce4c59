// Two other tools that count the same files, run as they are: https://www.npmjs.com/package/ccusage and @tokscale/core.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { add, makeKey, type Sums } from "./sums.ts";

export const versions = { ccusage: "20.0.24", "@tokscale/core": "1.4.3" };

type Breakdown = {
  modelName: string;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
  cost?: number;
};
type Daily = {
  daily: { date: string; modelBreakdowns?: Breakdown[]; models?: Record<string, Omit<Breakdown, "modelName">> }[];
};

/** What ccusage calls an agent; and what we do. */
const agents: Record<string, string> = {
  claude: "claude-code",
  codex: "codex-cli",
  gemini: "gemini-cli",
  opencode: "opencode",
  pi: "pi",
  qwen: "qwen-code",
  kimi: "kimi-cli",
  amp: "amp",
  droid: "droid",
  openclaw: "openclaw",
  copilot: "copilot-cli",
};

/** What ccusage calls agents. */
export const ccusageNames = (wanted: ReadonlySet<string>): string[] =>
  Object.entries(agents).flatMap(([theirs, ours]) => (wanted.has(ours) ? [theirs] : []));

/** ccusage's sums with the prices that it brings along. @param folder where it is installed @param asked the agents' names there */
export async function ccusageSums(folder: string, home: string, asked = Object.keys(agents)): Promise<Sums> {
  const sums: Sums = new Map();
  for (const theirs of asked) {
    const ours = agents[theirs] ?? theirs;
    const words = [theirs, "daily", "--json", "--offline", "--timezone", "UTC"];
    if (theirs === "claude") words.push("--breakdown", "--mode", "calculate");
    const { stdout } = await promisify(execFile)(join(folder, "node_modules/.bin/ccusage"), words, {
      env: { ...process.env, HOME: home, TZ: "UTC" },
      maxBuffer: 64 * 1024 * 1024,
    });
    for (const { date, modelBreakdowns, models } of (JSON.parse(stdout) as Partial<Daily>).daily ?? []) {
      const all = modelBreakdowns ?? Object.entries(models ?? {}).map(([modelName, one]) => ({ modelName, ...one }));
      for (const { modelName, inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens, cost } of all) {
        add(sums, makeKey(ours, modelName.replace(/^\[\w+\] /, ""), date), {
          input: inputTokens,
          output: outputTokens,
          cacheRead: cacheReadTokens,
          cacheWrite: cacheCreationTokens,
          nano: cost === undefined ? undefined : BigInt(Math.round(cost * 1e9)),
        });
      }
    }
  }
  return sums;
}

type Core = {
  parseLocalSources(options: { homeDir: string }): {
    messages: (Record<"input" | "output" | "cacheRead" | "cacheWrite" | "reasoning" | "timestamp", number> &
      Record<"source" | "modelId" | "date", string>)[];
  };
};

/** tokscale's sums. It has no prices without network. */
export function tokscaleSums(folder: string, home: string): Sums {
  const sums: Sums = new Map();
  const core = createRequire(join(folder, "package.json"))("@tokscale/core") as Core;
  for (const one of core.parseLocalSources({ homeDir: home }).messages) {
    const key = makeKey(
      agents[one.source] ?? one.source,
      one.modelId,
      new Date(one.timestamp).toISOString().slice(0, 10),
    );
    add(sums, key, { ...one, nano: undefined });
  }
  return sums;
}
