import type { Message } from "../adapter.ts";
import { makeNotice } from "../messages.ts";

const injectedTags = [
  "environment_context",
  "user_instructions",
  "permissions instructions",
  "collaboration_mode",
  "turn_aborted",
  "skills_instructions",
  "apps_instructions",
  "INSTRUCTIONS",
  "subagent_notification",
  "recommended_plugins",
  "codex_internal_context",
  "goal_context",
  "skill",
  "user_action",
  "user_shell_command",
  "model_switch",
  "personality_spec",
  "realtime_conversation",
  "hook_prompt",
  "in-app-browser-context",
  "external_codex_apps_open_page",
  "send_user_message_question_reply",
].join("|");

const injectedBlock = new RegExp(
  String.raw`^\s*(?:<(${injectedTags})\b[^>]*>[\s\S]*?</\1>|# AGENTS\.md instructions[\s\S]*?</INSTRUCTIONS>)\s*`,
);
const injectedText = new RegExp(String.raw`^\s*(?:<(?:${injectedTags})\b|# AGENTS\.md instructions)`);
const editorContext = /^\s*# Context from my IDE setup:[\s\S]*?\n## My request for Codex:[ \t]*\n?/;

export const isAbortNote = (text: string): boolean => /^\s*<turn_aborted>/.test(text);

export function splitUserText(text: string): Message[] {
  const notices: Message[] = [];
  let remaining = text;
  for (;;) {
    const [block] = injectedBlock.exec(remaining) ?? editorContext.exec(remaining) ?? [];
    if (!block) break;
    notices.push(makeNotice(block.trim(), "user"));
    remaining = remaining.slice(block.length);
  }
  if (remaining.trim() === "") return notices;
  return [
    ...notices,
    injectedText.test(remaining) ? makeNotice(remaining, "user") : { role: "user", content: remaining },
  ];
}

export function readEnvironmentFolder(text: string): string | undefined {
  if (!/^\s*<environment_context>/.test(text)) return undefined;
  const [, tagged, listed] = /<cwd>([^<\n]+)<\/cwd>|^Current working directory: (.+)$/m.exec(text) ?? [];
  return (tagged ?? listed)?.trim();
}
