import { type Fields, isFields, toList } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeToolCall, makeToolResult, toTexts, toThoughts, withAttachments } from "../messages.ts";
import { formatData } from "../pictures.ts";
import { asFields, asString, listFields } from "../values.ts";

export const source = "zed";

/** Reads a value of an enumeration in Rust: `"Name"`, or `{"Name": …}`. */
export function readVariant(value: unknown): [string, unknown] {
  if (typeof value === "string") return [value, undefined];
  return (isFields(value) && Object.entries(value)[0]) || ["(none)", undefined];
}

export function readUserMessages(content: unknown, unhandled: Unhandled): Message[] {
  const attachments: Fields[] = [];
  const pictures: string[] = [];
  const parts = toList(content).map((part) => {
    const [kind, value] = readVariant(part);
    if (kind === "Text") return asString(value) ?? "";
    if (kind === "Mention") {
      const name = isFields(value) ? readName(value.uri) : undefined;
      attachments.push({ type: "mention", ...(name && { name }) });
      return `@${name ?? "mention"}`;
    }
    if (kind === "Image") {
      attachments.push({ type: "image" });
      pictures.push(formatImage(value));
    } else unhandled(`user.${kind}`);
    return "";
  });
  const text = [parts.join(""), ...pictures].filter((part) => part.trim()).join("\n");
  if (!text && attachments.length === 0) return [];
  return [withAttachments({ role: "user", content: text || "[image]" }, attachments)];
}

const formatImage = (image: unknown): string =>
  isFields(image) && asString(image.source) ? formatData("image", "image/png", image.source) : "[image]";

function readName(uri: unknown): string | undefined {
  if (typeof uri === "string") return uri;
  const [, about] = readVariant(uri);
  if (!isFields(about)) return asString(about);
  return asString(about.abs_path) ?? asString(about.path) ?? asString(about.name) ?? asString(about.url);
}

export function readAgentMessages({ content, tool_results: results }: Fields, unhandled: Unhandled): Message[] {
  const said = toList(content).flatMap((part): Message[] => {
    const [kind, value] = readVariant(part);
    const fields = asFields(value);
    const text = asString(value) ?? asString(fields.text);
    switch (kind) {
      case "Text":
        return toTexts("assistant", text);
      case "Thinking":
        return toThoughts(text);
      case "RedactedThinking":
        return [];
      case "ToolUse":
        return [makeToolCall(fields.name, fields.id, fields.input ?? fields.raw_input)];
      default:
        unhandled(`agent.${kind}`);
        return [];
    }
  });
  const returned = Object.entries(asFields(results));
  return [
    ...said,
    ...returned.flatMap(([id, result]) => (isFields(result) ? [readResult(id, result, unhandled)] : [])),
  ];
}

function readResult(id: string, result: Fields, unhandled: Unhandled): Message {
  const { content, output } = result;
  const parts = Array.isArray(content) ? content : [content];
  const text = parts
    .map((part) => readPart(part, unhandled))
    .filter(Boolean)
    .join("\n");
  const declined = /^Permission to run tool (?:denied|action denied)|^Tool canceled by user/i.test(text);
  return makeToolResult(declined ? `User rejected the call. ${text}` : text || (asString(output) ?? ""), {
    callId: result.tool_use_id ?? id,
    isError: result.is_error === true,
  });
}

function readPart(part: unknown, unhandled: Unhandled): string {
  if (typeof part === "string") return part;
  if (!isFields(part)) return "";
  const [kind, value] = readVariant(part);
  if (/^text$/i.test(kind)) return asString(value) ?? (isFields(value) ? (asString(value.text) ?? "") : "");
  if (/^image$/i.test(kind)) return formatImage(value);
  if (part.type === "text") return asString(part.text) ?? "";
  unhandled(`result.${kind}`);
  return "";
}

/** For versions before October 2025. */
export function readOlderMessages(message: Fields, unhandled: Unhandled): Message[] {
  const { role } = message;
  if (role === "system") return [];
  if (role !== "user" && role !== "assistant") {
    unhandled(`role.${asString(role) ?? "(none)"}`);
    return [];
  }
  const said = listFields(message.segments).flatMap((segment): Message[] => {
    if (segment.type === "text") return toTexts(role, segment.text);
    if (segment.type === "thinking") return toThoughts(segment.text);
    if (segment.type !== "redacted_thinking") unhandled(`segment.${asString(segment.type) ?? "(none)"}`);
    return [];
  });
  const calls = listFields(message.tool_uses).map(({ id, name, input }) => makeToolCall(name, id, input));
  const results = listFields(message.tool_results);
  return [...said, ...calls, ...results.map((result) => readResult("", result, unhandled))];
}
