// Builds messages with the metadata that docs/trace-format.md describes.
import { type Fields, isFields, parseJson } from "../files/json.ts";
import type { Message } from "./adapter.ts";
import { asInteger, asString, asTimestamp } from "./values.ts";

export function makeToolCall(name: unknown, callId: unknown, input: unknown): Message {
  const [tool, id] = [asString(name) ?? "tool", asString(callId)];
  const fields = toInputFields(input);
  const given = Object.keys(fields).length > 0 && { input: fields };
  return {
    role: "assistant",
    content: makeSearchableText(tool, fields),
    metadata: { tool: { name: tool, ...(id && { callId: id }), ...given, content: "call" } },
  };
}

const maxValueChars = 500;
const maxContentChars = 2000;

function makeSearchableText(name: string, input: Fields): string {
  let content = name;
  for (const text of collectTexts(input)) content += `\n${text.slice(0, maxValueChars)}`;
  return content.slice(0, maxContentChars).toWellFormed();
}

function collectTexts(value: unknown, depth = 0, found: string[] = []): string[] {
  if (typeof value === "string" && value.trim() !== "") found.push(value);
  if (typeof value !== "object" || value === null || depth > 3) return found;
  for (const inner of Object.values(value).slice(0, 50)) collectTexts(inner, depth + 1, found);
  return found;
}

function toInputFields(input: unknown): Fields {
  const value = typeof input === "string" && /^\s*\{/.test(input) ? (parseJson(input) ?? input) : input;
  if (isFields(value)) return value;
  return value === undefined || value === null ? {} : { input: value };
}

export type ToolOutcome = {
  callId?: unknown;
  isError?: boolean | undefined;
  exitCode?: unknown;
  durationMs?: number | undefined;
  patch?: unknown;
  /** The `sourceId` of the sub-agent's session that did the work. */
  session?: unknown;
};

export function makeToolResult(output: string, outcome: ToolOutcome): Message {
  const { durationMs } = outcome;
  const [callId, exitCode] = [asString(outcome.callId), asInteger(outcome.exitCode)];
  const [patch, session] = [asString(outcome.patch), asString(outcome.session)];
  const result: Fields = {};
  if (callId !== undefined) result.callId = callId;
  if (outcome.isError) result.isError = true;
  if (exitCode !== undefined) result.exitCode = exitCode;
  if (patch !== undefined) result.patch = patch;
  if (session !== undefined) result.session = session;
  return { role: "tool", content: output, metadata: durationMs === undefined ? { result } : { result, durationMs } };
}

export function toFunctionCall({ id, call_id: otherId, function: called, ...call }: Fields): Message {
  const { name, arguments: input } = isFields(called) ? called : call;
  return makeToolCall(name, asString(id) ?? otherId, input);
}

export const makeThought = (text: string): Message => ({
  role: "assistant",
  content: text,
  metadata: { kind: "thinking" },
});

/** A notice is written by the agent's program, neither by the user nor the model. */
export const makeNotice = (text: string, role = "system"): Message => ({
  role,
  content: text,
  metadata: { kind: "notice" },
});

export const toNotices = (text: unknown, role?: string): Message[] =>
  typeof text === "string" && text !== "" ? [makeNotice(text, role)] : [];

export const toThoughts = (text: unknown): Message[] =>
  typeof text === "string" && text.trim() !== "" ? [makeThought(text)] : [];

export const toTexts = (role: string, text: unknown): Message[] =>
  typeof text === "string" && text.trim() !== "" ? [{ role, content: text }] : [];

export function withMetadata(message: Message, more: Fields): Message {
  const known = Object.entries(more).filter(([, value]) => value !== undefined);
  if (known.length === 0) return message;
  return { ...message, metadata: { ...message.metadata, ...Object.fromEntries(known) } };
}

export const withAttachments = (message: Message, attachments: readonly Fields[]): Message =>
  attachments.length > 0 ? withMetadata(message, { attachments }) : message;

const maxNameChars = 2048;

export const makeAttachment = (type: unknown, name: unknown): Fields => ({
  ...(asString(type) && { type }),
  ...(asString(name) && { name: String(name).slice(0, maxNameChars) }),
});

export function withTime(message: Message, at: unknown): Message {
  const createdAt = asTimestamp(at);
  return createdAt ? { ...message, createdAt } : message;
}

const noFile = "/dev/null";

/** @param before undefined for a new file @param after undefined for a deleted one */
export const formatFilePatch = (before: string | undefined, after: string | undefined, hunks: string): string =>
  `--- ${before ?? noFile}\n+++ ${after ?? noFile}\n${hunks}`;
