import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { runTool } from "../install/tools.ts";

export type Agent = {
  source: string;
  title: string;
  command: string;
  /** The folder where a copy's paths start. */
  getHome(host: Host): string;
  /** Arguments that continue a session. */
  resume(id: string): string[];
  begin(prompt: string): string[];
};

const named = ({ env }: Host, variable: string, other: string): string => env[variable] || other;

const agents: readonly Agent[] = [
  {
    source: "claude-code",
    title: "Claude Code",
    command: "claude",
    getHome: (host) => named(host, "CLAUDE_CONFIG_DIR", join(host.home, ".claude")),
    resume: (id) => ["claude", "--resume", id],
    begin: (prompt) => ["claude", prompt],
  },
  {
    source: "codex-cli",
    title: "Codex CLI",
    command: "codex",
    getHome: (host) => named(host, "CODEX_HOME", join(host.home, ".codex")),
    resume: (id) => ["codex", "resume", id],
    begin: (prompt) => ["codex", prompt],
  },
  {
    source: "gemini-cli",
    title: "Gemini CLI",
    command: "gemini",
    getHome: (host) => join(named(host, "GEMINI_CLI_HOME", host.home), ".gemini"),
    resume: (id) => ["gemini", "--resume", id],
    begin: (prompt) => ["gemini", "-i", prompt],
  },
  {
    source: "opencode",
    title: "OpenCode",
    command: "opencode",
    getHome: (host) => join(named(host, "XDG_DATA_HOME", join(host.home, ".local", "share")), "opencode"),
    resume: (id) => ["opencode", "--session", id],
    begin: (prompt) => ["opencode", "--prompt", prompt],
  },
];

/** Older traces have the command's name as source. */
export const findAgent = (source: string): Agent | undefined =>
  agents.find((agent) => agent.source === source || agent.command === source);

export function requireAgent(name: string): Agent {
  const agent = findAgent(name.toLowerCase());
  if (agent) return agent;
  const known = agents.map(({ command }) => command).join(", ");
  throw new CommandError("usage", `Spoor can't resume sessions in "${name}". Supported: ${known}.`);
}

/** @returns undefined if the agent is not on the PATH or prints no version */
export async function findVersion(host: Host, { command }: Agent): Promise<string | undefined> {
  const { code, output } = await runTool(host, [command, "--version"]);
  return code === 0 ? parseVersion(output) : undefined;
}

export const parseVersion = (text: string | null | undefined): string | undefined =>
  /(?:^|[^\d.])(\d+\.\d+\.\d+)(?![\d.])/.exec(text ?? "")?.[1];

export function isOlder(version: string, than: string): boolean {
  const [own, other] = [version, than].map((one) => one.split(".").map(Number));
  for (const [at, number] of (own ?? []).entries()) {
    const difference = number - (other?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
