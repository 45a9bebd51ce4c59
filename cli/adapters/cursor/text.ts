import type { Message } from "../adapter.ts";
import { notice } from "../messages.ts";
import { findTagged, replaceTagged } from "../tags.ts";

/** What the agent's program wraps in tags and puts before or after the user's own words. */
const injected =
  /^<(?:user_info|git_status|rules|agent_skills|agent_transcripts|project_layout|open_and_recently_viewed_files|attached_files|additional_data|system[-_]reminder|timestamp|environment_details|manually_attached_skills|cursor_commands|user_rules|available_skills|image_files|linter_errors|recently_viewed_files|mcp_file_system|mcp_servers)\b/;

/**
 * A user's text: the words, which have tags of their own, and what the program put around them as notices before them. A text without
 * such tags is the user's, unless it is injected.
 */
export function userText(text: string): Message[] {
  const tagged = findTagged(text, "user_query");
  const words = tagged.map(({ inner }) => inner.replace(/^\s/, "").replace(/\s$/, ""));
  if (words.length === 0) {
    if (text.trim() === "") return [];
    return [injected.test(text.trimStart()) ? notice(text.trim(), "user") : { role: "user", content: text }];
  }
  const around = replaceTagged(text, tagged).trim();
  return [
    ...(around ? [notice(around, "user")] : []),
    ...words.filter((one) => one.trim() !== "").map((content) => ({ role: "user", content })),
  ];
}

/** What stands in place of a thought that was taken out. */
export const isRedacted = (text: string): boolean => text.trim() === "[REDACTED]";
