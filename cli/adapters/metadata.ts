// What every adapter writes into metadata, in one vocabulary: docs/trace-format.md.

import { type Fields, isFields, parseJson } from "../files/json-lines.ts";
import type { Message } from "./adapter.ts";

/** Tokens as an agent's API reports them. `inputTokens` are those that no cache had. */
export type Usage = {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
};

const usageFields = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
] as const satisfies (keyof Usage)[];

/** Reports under one id come close to each other; a session of a gigabyte has more ids than should be remembered. */
const maxIds = 1000;

/** Usage that comes again and again, each time with all that was counted before: what each report adds is taken from it. */
export class UsageCounter {
  readonly #known = new Map<string, Usage>();
  readonly total: Usage = {};

  /** @returns what a report adds to those under the same id; undefined where that is nothing */
  add(id: string, reported: Usage): Usage | undefined {
    const before = this.#known.get(id) ?? {};
    this.#known.delete(id);
    const added: Usage = {};
    const max: Usage = { ...before };
    for (const field of usageFields) {
      const more = (reported[field] ?? 0) - (before[field] ?? 0);
      if (more <= 0) continue;
      added[field] = more;
      max[field] = reported[field] ?? 0;
      this.total[field] = (this.total[field] ?? 0) + more;
    }
    this.#known.set(id, max);
    if (this.#known.size > maxIds) this.#known.delete(this.#known.keys().next().value ?? "");
    return Object.keys(added).length > 0 ? added : undefined;
  }

  /** Takes a report as known without counting it. */
  skip(id: string, reported: Usage): void {
    this.#known.set(id, reported);
  }
}

/** A message with what it cost: its usage, and the tokens that it added itself. */
export function withUsage(message: Message, usage: Usage | undefined): Message {
  if (!usage) return message;
  const metadata = { ...message.metadata, usage };
  return { ...message, ...(usage.outputTokens && { tokenCount: usage.outputTokens }), metadata };
}

/** A call of a tool, in words as well; what came of it is a message of its own. */
export function toolCall(name: string, callId: string | undefined, input: unknown): Message {
  const fields = statInput(input);
  const content = inWords(name, fields);
  const given = Object.keys(fields).length > 0 && { input: fields };
  return {
    role: "assistant",
    content,
    metadata: { tool: { name, ...(callId && { callId }), ...given, content: "call" } },
  };
}

/** How much of each value, and of all of them, stands in a call's words, in characters. */
const words = { ofOne: 500, ofAll: 2000 };

/** A call as search finds it: the tool's name and the texts it was given, such as commands and paths. */
function inWords(name: string, input: Fields): string {
  const texts = textsOf(input).map((text) => text.slice(0, words.ofOne).toWellFormed());
  return [name, ...texts].join("\n").slice(0, words.ofAll).toWellFormed();
}

function textsOf(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value];
  if (typeof value !== "object" || value === null || depth > 3) return [];
  return Object.values(value)
    .slice(0, 50)
    .flatMap((inner) => textsOf(inner, depth + 1));
}

/** A tool's input as fields; JSON in a string is read, any other value stands by itself as `input`. */
function statInput(input: unknown): Fields {
  const value = typeof input === "string" && /^\s*\{/.test(input) ? (parseJson(input) ?? input) : input;
  if (isFields(value)) return value;
  return value === undefined || value === null ? {} : { input: value };
}

export type ToolOutcome = {
  callId?: string | undefined;
  isError?: boolean | undefined;
  exitCode?: number | undefined;
  durationMs?: number | undefined;
  /** Lines of a unified diff, where the tool says what it changed. */
  patch?: string | undefined;
  /** The `sourceId` of the session in which a sub-agent did the work. */
  session?: string | undefined;
};

/** What came of a tool's call; its output is the content. */
export function toolResult(output: string, { durationMs, ...outcome }: ToolOutcome): Message {
  const told = Object.entries(outcome).filter(([, value]) => value !== undefined && value !== false);
  const result = Object.fromEntries(told);
  return { role: "tool", content: output, metadata: { result, ...(durationMs !== undefined && { durationMs }) } };
}

export const thinking = (text: string): Message => ({
  role: "assistant",
  content: text,
  metadata: { kind: "thinking" },
});

/** Something that nobody said: what the agent's program put into the conversation, or tells of it. */
export const notice = (text: string, role = "system"): Message => ({
  role,
  content: text,
  metadata: { kind: "notice" },
});

/** A message with more metadata; what is undefined stays out. */
export function withMetadata(message: Message, more: Fields): Message {
  const told = Object.entries(more).filter(([, value]) => value !== undefined);
  if (told.length === 0) return message;
  return { ...message, metadata: { ...message.metadata, ...Object.fromEntries(told) } };
}

/** A moment as the server takes it, or nothing: ISO 8601 with an offset or Z, of the years 1 to 9999. */
export function asTimestamp(value: unknown): string | undefined {
  if (typeof value === "string" && moment.test(value) && !Number.isNaN(Date.parse(value))) return value;
  if (typeof value === "number" && value > 0 && value < 253_402_300_800_000) return new Date(value).toISOString();
  return undefined;
}

const moment = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** What people call the project in a folder: the folder's own name, of a path of any system. */
export function projectName(cwd: string | undefined): string | undefined {
  const name = cwd
    ?.split(/[/\\]+/)
    .filter(Boolean)
    .at(-1);
  return name && !/^[A-Za-z]:$/.test(name) ? truncate(name, 256) : undefined;
}

/** At most so many UTF-16 units, never half a character. */
export const truncate = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, "");

export const asString = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export const asCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
