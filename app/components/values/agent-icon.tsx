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

const colors: Record<string, readonly string[]> = {
  clay: ["claude", "cowork"],
  green: ["codex"],
  slate: ["cursor"],
  blue: ["gemini", "antigravity"],
  violet: ["copilot"],
  amber: ["opencode"],
  indigo: ["deepseek", "kilo"],
  rose: ["cline", "roo"],
  teal: ["windsurf", "kimi"],
  olive: ["qwen", "goose"],
};

/** A class of app/styles/tokens.css; an agent that has no color there always gets the same one of another. */
export function getAgentColor(source: string): string {
  const [agent = ""] = source
    .toLowerCase()
    .replace(/^vscode-/, "")
    .split(/[^a-z0-9]/);
  const all = Object.keys(colors);
  const own = all.find((color) => colors[color]?.includes(agent));
  const sum = [...agent].reduce((total, letter) => (31 * total + (letter.codePointAt(0) ?? 0)) % 997, 0);
  return `agent-${own ?? all[sum % all.length]}`;
}

export function AgentIcon({ source }: { source: string }) {
  const icon = findIcon(source);
  if (!icon)
    return (
      <span role="img" aria-label={source} title={source} className={`monogram ${getAgentColor(source)}`}>
        {makeMonogram(source)}
      </span>
    );
  return (
    <svg role="img" aria-label={source} className={`agent ${getAgentColor(source)}`}>
      <use href={`/agents.svg#${icon}`} />
    </svg>
  );
}

export function Monogram({ source }: { source: string }) {
  const icon = findIcon(source);
  return (
    <span aria-hidden="true" className={`monogram ${getAgentColor(source)}`}>
      {icon ? (
        <svg aria-hidden="true" className="agent">
          <use href={`/agents.svg#${icon}`} />
        </svg>
      ) : (
        makeMonogram(source)
      )}
    </span>
  );
}
