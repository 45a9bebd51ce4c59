// The agents that `simple-icons` has an icon of; all others have a monogram. Only the server imports it: a page gets the icons that
// it shows, and a list refers to the sheet of all, `public/agents.svg#NAME` (tests/unit/agent-icons.test.ts makes it).
import "server-only";
import {
  siAmp,
  siClaude,
  siClaudecode,
  siCline,
  siCursor,
  siDeepseek,
  siGithubcopilot,
  siGooglegemini,
  siKimi,
  siMistralai,
  siOpencode,
  siPi,
  siQwen,
  siTrae,
  siWarp,
  siWindsurf,
  siZedindustries,
} from "simple-icons";

const icons: Record<string, { path: string }> = {
  amp: siAmp,
  "claude-code": siClaudecode,
  claude: siClaude,
  cowork: siClaude,
  cline: siCline,
  cursor: siCursor,
  deepseek: siDeepseek,
  copilot: siGithubcopilot,
  gemini: siGooglegemini,
  kimi: siKimi,
  mistral: siMistralai,
  vibe: siMistralai,
  opencode: siOpencode,
  pi: siPi,
  qwen: siQwen,
  trae: siTrae,
  warp: siWarp,
  windsurf: siWindsurf,
  zed: siZedindustries,
};

/** The names of all icons. */
export const names = Object.keys(icons);

/** The name of an agent's icon, by that of the agent or its first word; undefined where there is none. */
export function iconOf(source: string): string | undefined {
  const agent = source.toLowerCase().replace(/^vscode-/, "");
  return names.find((name) => agent === name || agent.startsWith(`${name}-`));
}

/** An icon's shape, in a square of 24. */
export const iconPath = (name: string): string => icons[name]?.path ?? "";
