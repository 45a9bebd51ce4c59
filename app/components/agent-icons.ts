/** The agents that `public/agents.svg` has an icon of; all others have a monogram. */
export const names = [
  "amp",
  "claude-code",
  "claude",
  "cowork",
  "cline",
  "cursor",
  "deepseek",
  "copilot",
  "gemini",
  "kimi",
  "mistral",
  "vibe",
  "opencode",
  "pi",
  "qwen",
  "trae",
  "warp",
  "windsurf",
  "zed",
];

/** The name of an agent's icon, by that of the agent or its first word; undefined where there is none. */
export function findIcon(source: string): string | undefined {
  const agent = source.toLowerCase().replace(/^vscode-/, "");
  return names.find((name) => agent === name || agent.startsWith(`${name}-`));
}
