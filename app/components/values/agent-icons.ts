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

export function makeMonogram(source: string): string {
  const words = source
    .replace(/\Wcli$/i, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const [first = "", second] = words;
  const letters = second ? [...first].slice(0, 1).concat([...second].slice(0, 1)) : [...first].slice(0, 2);
  return letters.join("").toUpperCase() || "?";
}
