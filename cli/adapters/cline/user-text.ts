import type { Message } from "../adapter.ts";
import { makeNotice } from "../messages.ts";
import { findTagged, replaceTagged, type Tagged } from "../tags.ts";

const findWords = (text: string): Tagged[] =>
  findTagged(text, "task", "user_message", "feedback", "answer").map((one) => ({
    ...one,
    inner: one.inner.replace(/^\n/, "").replace(/\n$/, ""),
  }));

export type Environment = { cwd?: string; model?: string };

export function readEnvironment(text: string): { rest: string; environment: Environment } {
  const tagged = findTagged(text, "environment_details");
  const found = tagged.map(({ start, end }) => text.slice(start, end)).join("\n");
  const [, cwd] = /^# Current (?:Working|Workspace) Directory \((.+?)\) Files$/m.exec(found) ?? [];
  const [, model] = /^<model>([^<\n]+)<\/model>$/m.exec(found) ?? [];
  const rest = found === "" ? text : replaceTagged(text, tagged).trim();
  return { rest, environment: { ...(cwd && { cwd }), ...(model && { model }) } };
}

const said =
  /^\s*(?:\[ERROR\]|\[TASK RESUMPTION\]|\[NOTE\]|\[Continue assisting|<explicit_instructions|<hook_context|# (?:task_progress|TODO LIST|Todo List)\b)/;

/** The program also speaks in the user's place, for example to ask for a list of tasks. */
export const isProgramText = (text: string): boolean => said.test(text);

export function splitUserText(text: string): Message[] {
  const messages: Message[] = [];
  let from = 0;
  const add = (part: string) => {
    if (part.trim() !== "") messages.push(makeNotice(part.trim(), "user"));
  };
  for (const { start, end, inner: own } of findWords(text)) {
    add(text.slice(from, start));
    from = end;
    if (own.trim() !== "") messages.push({ role: "user", content: own });
  }
  if (from > 0) add(text.slice(from));
  else if (isProgramText(text)) add(text);
  else if (text.trim() !== "") messages.push({ role: "user", content: text });
  return messages;
}

/** @param isAnswer whether the whole result is the user's answer to a question */
export function readFeedback(output: string, isAnswer: boolean): { output: string; said: Message[] } {
  const words = findWords(output);
  if (isAnswer) return { output: replaceTagged(output, words, ({ inner }) => inner).trim(), said: [] };
  const own = words.filter(({ name }) => name === "feedback" || name === "user_message");
  if (own.length === 0) return { output, said: [] };
  return {
    output: replaceTagged(output, own).trim(),
    said: own.map(({ inner }) => ({ role: "user", content: inner })),
  };
}
