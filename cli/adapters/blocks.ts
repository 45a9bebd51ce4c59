// Content as a list of blocks, which most agents share: a text, or a list of `{type, …}`.
import { type Fields, isFields } from "../files/json.ts";
import type { Message } from "./adapter.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "./messages.ts";
import { dataText } from "./pictures.ts";
import { findTagged, replaceTagged } from "./tags.ts";
import { asString } from "./values.ts";

/** A content as blocks: a text becomes one, anything else none. */
export function toBlocks(content: unknown): Fields[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isFields) : [];
}

/** A result's text: that of its blocks, one below the other. */
export const joinBlockTexts = (content: unknown, unhandled: (type: string) => void): string =>
  toBlocks(content)
    .map((block) => blockText(block, unhandled))
    .filter(Boolean)
    .join("\n");

function blockText(block: Fields, unhandled: (type: string) => void): string {
  switch (block.type) {
    case "text":
    case "toolResult":
      return asString(block.text) ?? "";
    case "image": {
      const { data, image } = isFields(block.source) ? block.source : block;
      return dataText("image", readAttachment(block).type, data ?? image);
    }
    default:
      unhandled(`content.${asString(block.type) ?? "(none)"}`);
      return "";
  }
}

/** An attached file, by its type and name. */
function readAttachment(block: Fields): { type?: string; name?: string } {
  const from = isFields(block.source) ? block.source : block;
  const type = asString(from.mimeType) ?? asString(from.media_type) ?? asString(from.mediaType);
  const name = asString(block.filename) ?? asString(block.fileName) ?? asString(block.name);
  return { ...(type && { type }), ...(name && { name: name.slice(0, 2048) }) };
}

/** A user's text; what the program added to it (`<system-reminder>`) becomes notices before it. */
export function userMessages(text: string): Message[] {
  const added = findTagged(text, "system-reminder").map((one) => ({ ...one, end: skipBlanks(text, one.end) }));
  const own = added.length > 0 ? replaceTagged(text, added).trim() : text;
  const notices = added.map(({ start, end }) => notice(text.slice(start, end).trim(), "user"));
  return own.trim() === "" ? notices : [...notices, { role: "user", content: own }];
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at).trim() === "") at++;
  return at;
}

/** An assistant's blocks as messages: texts, thoughts and tool calls, under the names that agents give them. */
export function assistantMessages(content: unknown, unhandled: (type: string) => void): Message[] {
  return toBlocks(content).flatMap((block): Message[] => {
    switch (block.type) {
      case "thinking":
      case "think":
      case "thought":
      case "reasoning": {
        const text = asString(block.thinking) ?? asString(block.think) ?? asString(block.text);
        return text ? [thinking(text)] : [];
      }
      case "redacted_thinking":
        return [];
      case "toolCall":
      case "tool_call":
      case "tool_use":
        return [toolCall(asString(block.name) ?? "tool", asString(block.id), block.arguments ?? block.input)];
      default: {
        const text = blockText(block, unhandled);
        return text ? [{ role: "assistant", content: text }] : [];
      }
    }
  });
}

/** A user's blocks as messages: texts, images, and results of tools. */
export function userBlocks(content: unknown, unhandled: (type: string) => void): Message[] {
  return toBlocks(content).flatMap((block): Message[] => {
    if (block.type === "tool_result") {
      const output = joinBlockTexts(block.content, unhandled);
      return [toolResult(output, { callId: asString(block.tool_use_id), isError: block.is_error === true })];
    }
    const text = blockText(block, unhandled);
    if (block.type === "image")
      return [withMetadata({ role: "user", content: text }, { attachments: [readAttachment(block)] })];
    return text.trim() === "" ? [] : userMessages(text);
  });
}
