import type { Message } from "../adapter.ts";
import { notice } from "../messages.ts";

/** What the program puts below the user's words where these name files (`@path`): the files' content. */
const references = /(?<!\s)\s*--- Content from referenced files ---[\s\S]*?(?:--- End of content ---|$)/g;

/** A user's text; the content of files that it names becomes notices after it. */
export function userMessages(text: string): Message[] {
  const added = text.match(references) ?? [];
  if (added.length === 0) return [{ role: "user", content: text }];
  const own = text.replace(references, "").trim();
  const notices = added.map((part) => notice(part.trim(), "user"));
  return own === "" ? notices : [{ role: "user", content: own }, ...notices];
}
