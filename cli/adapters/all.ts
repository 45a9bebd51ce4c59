import type { Adapter } from "./adapter.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { gemini } from "./gemini.ts";
import { jsonl } from "./jsonl.ts";
import { opencode } from "./opencode.ts";
import { specstory } from "./specstory.ts";

/** Every adapter, in the order in which they are shown. */
export const adapters: readonly Adapter[] = [claudeCode, codex, gemini, opencode, specstory, jsonl];
