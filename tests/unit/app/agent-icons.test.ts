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
import { expect, test } from "vitest";
import { names } from "../../../app/components/values/agent-icon.tsx";

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

/** All icons as one SVG of symbols, which every page refers to. */
const sheet = () => {
  const symbols = names.map(
    (name) => `<symbol id="${name}" viewBox="0 0 24 24"><path d="${icons[name]?.path}"/></symbol>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("")}</svg>\n`;
};

test("public/agents.svg has the icon of each agent; `npx vitest run tests/unit/app/agent-icons.test.ts -u` writes it", async () => {
  expect(names).toEqual(Object.keys(icons));
  await expect(sheet()).toMatchFileSnapshot("../../../public/agents.svg");
});
