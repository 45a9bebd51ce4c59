import type { Message } from "../adapter.ts";
import { toNotices, toTexts } from "../messages.ts";
import { splitTaggedWords } from "../tags.ts";

export const source = "cursor";

const injected =
  /^<(?:user_info|git_status|rules|agent_skills|agent_transcripts|project_layout|open_and_recently_viewed_files|attached_files|additional_data|system[-_]reminder|timestamp|environment_details|manually_attached_skills|cursor_commands|user_rules|available_skills|image_files|linter_errors|recently_viewed_files|mcp_file_system|mcp_servers)\b/;

/** The words are in tags; a text without them is the user's, unless it is injected. */
export function readUserText(text: string): Message[] {
  const tagged = splitTaggedWords(text, "user_query");
  if (tagged) return [...toNotices(tagged.around, "user"), ...tagged.words.flatMap((one) => toTexts("user", one))];
  return injected.test(text.trimStart()) ? toNotices(text.trim(), "user") : toTexts("user", text);
}

export const isRedacted = (text: string): boolean => text.trim() === "[REDACTED]";
