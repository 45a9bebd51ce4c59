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

export function AgentIcon({ source }: { source: string }) {
  const icon = findIcon(source);
  if (!icon)
    return (
      <span role="img" aria-label={source} title={source} className="monogram">
        {makeMonogram(source)}
      </span>
    );
  return (
    <svg role="img" aria-label={source} className="agent">
      <use href={`/agents.svg#${icon}`} />
    </svg>
  );
}

export function Monogram({ source }: { source: string }) {
  const icon = findIcon(source);
  return (
    <span aria-hidden="true" className="monogram">
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
