import type { Adapter } from "./adapter.ts";
import { aider } from "./aider/adapter.ts";
import { amp } from "./amp/adapter.ts";
import { antigravity } from "./antigravity/adapter.ts";
import { claudeCode } from "./claude-code/adapter.ts";
import { iflow, openclaude } from "./claude-code/relatives.ts";
import { cline, kiloCode, rooCode } from "./cline/adapter.ts";
import { codex } from "./codex/adapter.ts";
import { continueDev } from "./continue/adapter.ts";
import { copilot } from "./copilot/adapter.ts";
import { cowork } from "./cowork/adapter.ts";
import { crush } from "./crush/adapter.ts";
import { cursor } from "./cursor/adapter.ts";
import { droid } from "./droid/adapter.ts";
import { gemini } from "./gemini/adapter.ts";
import { goose } from "./goose/adapter.ts";
import { grok } from "./grok/adapter.ts";
import { hermes } from "./hermes/adapter.ts";
import { jsonl } from "./jsonl/adapter.ts";
import { kimi } from "./kimi/adapter.ts";
import { kimiCli } from "./kimi-cli/adapter.ts";
import { amazonQ, kiro } from "./kiro/adapter.ts";
import { ohMyPi } from "./oh-my-pi/adapter.ts";
import { openclaw } from "./openclaw/adapter.ts";
import { kilo, mimocode, opencode } from "./opencode/adapter.ts";
import { openhands } from "./openhands/adapter.ts";
import { pi } from "./pi/adapter.ts";
import { qwen } from "./qwen/adapter.ts";
import { specstory } from "./specstory/adapter.ts";
import { trae } from "./trae/adapter.ts";
import { vibe } from "./vibe/adapter.ts";
import { vscodeCopilot } from "./vscode-copilot/adapter.ts";
import { zed } from "./zed/adapter.ts";

export const adapters: readonly Adapter[] = [
  claudeCode,
  cowork,
  openclaude,
  codex,
  gemini,
  opencode,
  kilo,
  mimocode,
  antigravity,
  cursor,
  crush,
  goose,
  kiro,
  amazonQ,
  zed,
  grok,
  hermes,
  copilot,
  vscodeCopilot,
  qwen,
  droid,
  kimi,
  kimiCli,
  pi,
  ohMyPi,
  openclaw,
  openhands,
  iflow,
  trae,
  cline,
  rooCode,
  kiloCode,
  amp,
  continueDev,
  vibe,
  aider,
  specstory,
  jsonl,
];
