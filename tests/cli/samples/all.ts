// A home of every agent, in each of the forms in which it keeps sessions.
import { amp } from "./amp.ts";
import * as claude from "./claude.ts";
import { cline, kiloCode, rooCode } from "./cline.ts";
import { codex, trae } from "./codex.ts";
import { continueDev } from "./continue.ts";
import { copilot } from "./copilot.ts";
import * as cursor from "./cursor.ts";
import { crush, goose, hermes, olderGoose, zed } from "./databases.ts";
import { droid } from "./droid.ts";
import { gemini } from "./gemini.ts";
import { grok } from "./grok.ts";
import { type Home, toHome } from "./home.ts";
import { kimi } from "./kimi.ts";
import { kimiCli } from "./kimi-cli.ts";
import * as kiro from "./kiro.ts";
import { newerOpenCode, openCodeDatabase, openCodeFiles } from "./opencode.ts";
import * as others from "./others.ts";
import { ohMyPi, openclaw, pi } from "./pi.ts";
import { qwen } from "./qwen.ts";
import type { Sample } from "./sample.ts";
import { vibe } from "./vibe.ts";
import { vscodeCopilot } from "./vscode.ts";

/** Agents whose session is one log, by the adapter's name. */
export const samples: [name: string, sample: Sample][] = [
  ["codex-cli", codex],
  ["gemini-cli", gemini],
  ["copilot-cli", copilot],
  ["grok-build", grok],
  ["qwen-code", qwen],
  ["droid", droid],
  ["kimi-code", kimi],
  ["kimi-cli", kimiCli],
  ["pi", pi],
  ["oh-my-pi", ohMyPi],
  ["openclaw", openclaw],
  ["trae", trae],
  ["mistral-vibe", vibe],
  ["amp", amp],
  ["continue", continueDev],
  ["cline", cline],
  ["roo-code", rooCode],
  ["kilo-code", kiloCode],
  ["vscode-copilot", vscodeCopilot],
];

/** Agents that keep more, each in all of its forms. */
export const wholes: [name: string, form: string, home: Home][] = [
  ["claude-code", "lines", claude.claudeCode],
  ["cowork", "lines", claude.cowork],
  ["openclaude", "lines", claude.openclaude],
  ["iflow", "lines", claude.iflow],
  ["gemini-cli", "a file", others.olderGemini],
  ["opencode", "files", openCodeFiles("opencode")],
  ["kilo", "files", openCodeFiles("kilo")],
  ["mimocode", "files", openCodeFiles("mimocode")],
  ["opencode", "rows of parts", openCodeDatabase("opencode/opencode.db")],
  ["kilo", "rows of parts", openCodeDatabase("kilo/kilo.db")],
  ["mimocode", "rows of parts", openCodeDatabase("mimocode/mimocode.db")],
  ["opencode", "rows of messages", newerOpenCode],
  ["antigravity", "a transcript", others.antigravity],
  ["cursor", "the editor's rows", cursor.cursor],
  ["cursor", "the CLI's rows", cursor.cursorCli],
  ["cursor", "a transcript", cursor.cursorTranscript],
  ["cursor", "a text", cursor.cursorText],
  ["crush", "rows", crush],
  ["goose", "rows", goose],
  ["goose", "lines", olderGoose],
  ["kiro", "rows", kiro.kiro],
  ["kiro", "a log", kiro.kiroLog],
  ["kiro", "events", kiro.kiroEvents],
  ["kiro", "the editor's files", kiro.kiroEditor],
  ["amazon-q", "rows", kiro.amazonQ],
  ["zed", "rows", zed],
  ["hermes", "rows", hermes],
  ["openhands", "events", others.openhands],
  ["trae", "the editor's rows", others.traeEditor],
  ["aider", "a text", others.aider],
  ["specstory", "a text", others.specstory],
  ["jsonl", "lines", others.jsonl],
];

/** Every agent's homes. */
export const homes: [name: string, form: string, home: Home][] = [
  ...samples.map(([name, sample]): [string, string, Home] => [name, "a log", toHome(sample)]),
  ...wholes,
];
