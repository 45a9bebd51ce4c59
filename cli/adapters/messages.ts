// Builds messages with the metadata that docs/trace-format.md describes.
import { type Fields, isFields, parseJson } from "../files/json.ts";
import type { Message } from "./adapter.ts";

/** A tool call. Its content is searchable text; its result is a separate message. */
export function toolCall(name: string, callId: string | undefined, input: unknown): Message {
  const fields = inputFields(input);
  const content = searchableText(name, fields);
  const given = Object.keys(fields).length > 0 && { input: fields };
  return {
    role: "assistant",
    content,
    metadata: { tool: { name, ...(callId && { callId }), ...given, content: "call" } },
  };
}

const maxValueChars = 500;
const maxContentChars = 2000;

/** The tool's name and the texts in its input, such as commands and paths. */
function searchableText(name: string, input: Fields): string {
  let content = name;
  for (const text of textsIn(input)) content += `\n${text.slice(0, maxValueChars)}`;
  return content.slice(0, maxContentChars).toWellFormed();
}

function textsIn(value: unknown, depth = 0, found: string[] = []): string[] {
  if (typeof value === "string" && value.trim() !== "") found.push(value);
  if (typeof value !== "object" || value === null || depth > 3) return found;
  for (const inner of Object.values(value).slice(0, 50)) textsIn(inner, depth + 1, found);
  return found;
}

/** A tool's input as an object: JSON in a string is parsed, any other value becomes `{input: value}`. */
function inputFields(input: unknown): Fields {
  const value = typeof input === "string" && /^\s*\{/.test(input) ? (parseJson(input) ?? input) : input;
  if (isFields(value)) return value;
  return value === undefined || value === null ? {} : { input: value };
}

export type ToolOutcome = {
  callId?: string | undefined;
  isError?: boolean | undefined;
  exitCode?: number | undefined;
  durationMs?: number | undefined;
  /** A unified diff of what the tool changed. */
  patch?: string | undefined;
  /** The `sourceId` of the sub-agent's session that did the work. */
  session?: string | undefined;
};

/** A tool's result; its output is the content. */
export function toolResult(output: string, { durationMs, ...outcome }: ToolOutcome): Message {
  const result: Fields = {};
  for (const name in outcome) {
    const value = outcome[name as keyof typeof outcome];
    if (value !== undefined && value !== false) result[name] = value;
  }
  return { role: "tool", content: output, metadata: durationMs === undefined ? { result } : { result, durationMs } };
}

export const thinking = (text: string): Message => ({
  role: "assistant",
  content: text,
  metadata: { kind: "thinking" },
});

/** A text that neither the user nor the model wrote: the agent's program injected or reported it. */
export const notice = (text: string, role = "system"): Message => ({
  role,
  content: text,
  metadata: { kind: "notice" },
});

/** Adds metadata to a message, without undefined values. */
export function withMetadata(message: Message, more: Fields): Message {
  const known = Object.entries(more).filter(([, value]) => value !== undefined);
  if (known.length === 0) return message;
  return { ...message, metadata: { ...message.metadata, ...Object.fromEntries(known) } };
}
