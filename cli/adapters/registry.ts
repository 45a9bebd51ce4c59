import type { Adapter } from "./adapter.ts";
import { claudeCode } from "./claude-code/adapter.ts";
import { codex } from "./codex/adapter.ts";
import { gemini } from "./gemini/adapter.ts";
import { jsonl } from "./jsonl/adapter.ts";
import { opencode } from "./opencode/adapter.ts";
import { specstory } from "./specstory/adapter.ts";

/** Every adapter, in the order of display. */
export const adapters: readonly Adapter[] = [claudeCode, codex, gemini, opencode, specstory, jsonl];
