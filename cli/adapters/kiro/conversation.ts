import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeToolCall, makeToolResult, toNotices, toTexts, toThoughts, withAttachments } from "../messages.ts";
import { formatData } from "../pictures.ts";
import { asFields, asString, joinTexts, listFields } from "../values.ts";

export const source = "kiro";

/** Reads a value of an enumeration in Rust: `{"Name": {…}}`. */
function readVariant(value: unknown): [string, Fields] | undefined {
  const [entry] = isFields(value) ? Object.entries(value) : [];
  return entry ? [entry[0], asFields(entry[1])] : undefined;
}

export function readUser(user: Fields, unhandled: Unhandled): Message[] {
  const added = toNotices(asString(user.additional_context)?.trim(), "user");
  const [kind, content] = readVariant(user.content) ?? ["(none)", {}];
  if (!["Prompt", "ToolUseResults", "CancelledToolUses"].includes(kind)) unhandled(`user.${kind}`);
  const images = listFields(user.images);
  const prompt = joinTexts([asString(content.prompt) ?? "", ...images.flatMap(readPictures)]);
  const attachments = images.map(() => ({ type: "image" }));
  const said = toTexts("user", prompt).map((message) => withAttachments(message, attachments));
  const results = listFields(content.tool_use_results);
  return [...added, ...results.map((result) => readResult(result, unhandled)), ...said];
}

function readResult(result: Fields, unhandled: Unhandled): Message {
  const blocks = listFields(result.content);
  const parts = blocks.map((block) => {
    if (typeof block.Text === "string") return { text: block.Text };
    if (block.Json !== undefined) return readJsonOutput(block.Json);
    unhandled(`result.${Object.keys(block)[0] ?? "(none)"}`);
    return { text: "" };
  });
  return joinResult(parts, asString(result.tool_use_id), result.status);
}

export function readPictures({ format, source }: Fields): string[] {
  const { data, bytes, Bytes } = asFields(source);
  const image = data ?? bytes ?? Bytes;
  return image === undefined ? [] : [formatData("image", `image/${asString(format) ?? "png"}`, image)];
}

export type OutputPart = { text: string; exitCode?: number };

export function readJsonOutput(value: unknown): OutputPart {
  if (!isFields(value) || (typeof value.stdout !== "string" && typeof value.stderr !== "string")) {
    return { text: typeof value === "string" ? value : JSON.stringify(value) };
  }
  const text = [value.stdout, value.stderr].filter((part) => asString(part)).join("\n");
  const [digits] = /-?\d{1,10}$/.exec(String(value.exit_status ?? "")) ?? [];
  return digits === undefined ? { text } : { text, exitCode: Number(digits) };
}

export function joinResult(parts: OutputPart[], callId: string | undefined, status: unknown): Message {
  const text = parts
    .map((part) => part.text)
    .filter(Boolean)
    .join("\n");
  const exitCode = parts.map((part) => part.exitCode).find((code) => code !== undefined);
  return makeToolResult(text, { callId, isError: /^error$/i.test(asString(status) ?? ""), exitCode });
}

export function readAssistant(assistant: unknown, unhandled: Unhandled): Message[] {
  const [kind, answer] = readVariant(assistant) ?? ["(none)", {}];
  if (kind !== "Response" && kind !== "ToolUse") {
    unhandled(`assistant.${kind}`);
    return [];
  }
  const calls = listFields(answer.tool_uses);
  return [
    ...toThoughts(findThought(answer.thinking)),
    ...toTexts("assistant", answer.content),
    ...calls.map(({ id, name, orig_name: original, args }) =>
      makeToolCall(asString(name) || asString(original) || "tool", asString(id), args),
    ),
  ];
}

function findThought(value: unknown, depth = 0): string | undefined {
  if (!isFields(value) || depth > 2) return undefined;
  const text = asString(value.text);
  if (text?.trim()) return text;
  return Object.values(value)
    .map((inner) => findThought(inner, depth + 1))
    .find(Boolean);
}
