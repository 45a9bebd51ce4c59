import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { dataText } from "../pictures.ts";
import { asString } from "../values.ts";

/** A value of an enumeration in Rust: `{"Name": {…}}`. */
function readVariant(value: unknown): [string, Fields] | undefined {
  const [entry] = isFields(value) ? Object.entries(value) : [];
  return entry ? [entry[0], isFields(entry[1]) ? entry[1] : {}] : undefined;
}

/** What the user, or a tool, said in an entry of a conversation's history. */
export function userMessages(user: Fields, unhandled: (type: string) => void): Message[] {
  const context = asString(user.additional_context)?.trim();
  const added = context ? [notice(context, "user")] : [];
  const [kind, content] = readVariant(user.content) ?? ["(none)", {}];
  if (!["Prompt", "ToolUseResults", "CancelledToolUses"].includes(kind)) unhandled(`user.${kind}`);
  const images = Array.isArray(user.images) ? user.images.filter(isFields) : [];
  const attachments = images.length > 0 ? images.map(() => ({ type: "image" })) : undefined;
  const prompt = [asString(content.prompt) ?? "", ...images.flatMap(pictureTexts)].filter(Boolean).join("\n");
  const said = prompt.trim() ? [withMetadata({ role: "user", content: prompt }, { attachments })] : [];
  const results = Array.isArray(content.tool_use_results) ? content.tool_use_results.filter(isFields) : [];
  return [...added, ...results.map((result) => resultMessage(result, unhandled)), ...said];
}

function resultMessage(result: Fields, unhandled: (type: string) => void): Message {
  const blocks = (Array.isArray(result.content) ? result.content : []).filter(isFields);
  const parts = blocks.map((block) => {
    if (typeof block.Text === "string") return { text: block.Text };
    if (block.Json !== undefined) return jsonOutput(block.Json);
    unhandled(`result.${Object.keys(block)[0] ?? "(none)"}`);
    return { text: "" };
  });
  return joinResult(parts, asString(result.tool_use_id), result.status);
}

/** A placeholder for a picture whose bytes are there: base64, or a list of them. */
export function pictureTexts({ format, source }: Fields): string[] {
  const { data, bytes, Bytes } = isFields(source) ? source : ({} as Fields);
  const held = data ?? bytes ?? Bytes;
  return held === undefined ? [] : [dataText("image", `image/${asString(format) ?? "png"}`, held)];
}

export type OutputPart = { text: string; exitCode?: number };

/** What a tool returned as an object: a command's streams and exit code; else all of it. */
export function jsonOutput(value: unknown): OutputPart {
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
  return toolResult(text, { callId, isError: /^error$/i.test(asString(status) ?? ""), exitCode });
}

/** What the model answered in an entry of a conversation's history. */
export function assistantMessages(assistant: unknown, unhandled: (type: string) => void): Message[] {
  const [kind, answer] = readVariant(assistant) ?? ["(none)", {}];
  if (kind !== "Response" && kind !== "ToolUse") {
    unhandled(`assistant.${kind}`);
    return [];
  }
  const thought = thoughtIn(answer.thinking);
  const text = asString(answer.content);
  const calls = Array.isArray(answer.tool_uses) ? answer.tool_uses.filter(isFields) : [];
  return [
    ...(thought ? [thinking(thought)] : []),
    ...(text?.trim() ? [{ role: "assistant", content: text }] : []),
    ...calls.map(({ id, name, orig_name: original, args }) =>
      toolCall(asString(name) || asString(original) || "tool", asString(id), args),
    ),
  ];
}

/** The text of a thought, some levels deep. */
function thoughtIn(value: unknown, depth = 0): string | undefined {
  if (!isFields(value) || depth > 2) return undefined;
  const text = asString(value.text);
  if (text?.trim()) return text;
  return Object.values(value)
    .map((inner) => thoughtIn(inner, depth + 1))
    .find(Boolean);
}
