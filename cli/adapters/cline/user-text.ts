import type { Message } from "../adapter.ts";
import { notice } from "../messages.ts";

const environment = /<environment_details>[\s\S]*?<\/environment_details>/g;
/** The tags around what the user wrote. */
const words = /<(task|user_message|feedback|answer)>\n?([\s\S]*?)\n?<\/\1>/g;

/** What the program tells the model with each request. */
export type Environment = { cwd?: string; model?: string };

/** Takes out of a text what the program tells with each request. */
export function readEnvironment(text: string): { rest: string; environment: Environment } {
  const found = text.match(environment)?.join("\n") ?? "";
  const [, cwd] = /^# Current (?:Working|Workspace) Directory \((.+?)\) Files$/m.exec(found) ?? [];
  const [, model] = /^<model>([^<\n]+)<\/model>$/m.exec(found) ?? [];
  const rest = found === "" ? text : text.replace(environment, "").trim();
  return { rest, environment: { ...(cwd && { cwd }), ...(model && { model }) } };
}

/** What the program says to the model in the user's place. */
const said =
  /^\s*(?:\[ERROR\]|\[TASK RESUMPTION\]|\[NOTE\]|\[Continue assisting|<explicit_instructions|<hook_context|# (?:task_progress|TODO LIST|Todo List)\b)/;

/** Whether a text is the program's, such as its wish for a list of tasks beside a result. */
export const isProgramText = (text: string): boolean => said.test(text);

/** A user's text as messages: what the user wrote, and as notices what the program added to it. */
export function userTexts(text: string): Message[] {
  const messages: Message[] = [];
  let from = 0;
  const add = (part: string) => {
    if (part.trim() !== "") messages.push(notice(part.trim(), "user"));
  };
  for (const match of text.matchAll(words)) {
    add(text.slice(from, match.index));
    from = match.index + match[0].length;
    const own = match[2] ?? "";
    if (own.trim() !== "") messages.push({ role: "user", content: own });
  }
  if (from > 0) add(text.slice(from));
  else if (isProgramText(text)) add(text);
  else if (text.trim() !== "") messages.push({ role: "user", content: text });
  return messages;
}

/**
 * Takes out of a result what the user wrote beside it.
 *
 * @param isAnswer whether the result as a whole is what the user answered to a question
 */
export function readFeedback(output: string, isAnswer: boolean): { output: string; said: Message[] } {
  if (isAnswer) return { output: output.replace(words, "$2").trim(), said: [] };
  const own = [...output.matchAll(words)].filter(([, tag]) => tag === "feedback" || tag === "user_message");
  if (own.length === 0) return { output, said: [] };
  const rest = output
    .replace(words, (whole, tag) => (tag === "feedback" || tag === "user_message" ? "" : whole))
    .trim();
  return { output: rest, said: own.map(([, , text = ""]) => ({ role: "user", content: text })) };
}
