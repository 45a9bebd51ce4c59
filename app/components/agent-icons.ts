/** The agents with an icon in `public/agents.svg`; others have a monogram. */
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

/** Matches the agent's name or its first word. */
export function findIcon(source: string): string | undefined {
  const agent = source.toLowerCase().replace(/^vscode-/, "");
  return names.find((name) => agent === name || agent.startsWith(`${name}-`));
}
