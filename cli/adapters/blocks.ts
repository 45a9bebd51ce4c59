// Most agents keep content as a text, or as a list of blocks: `{type, …}`.
import { type Fields, isFields } from "../files/json.ts";
import type { Message, Unhandled } from "./adapter.ts";
import { makeAttachment, makeNotice, makeToolCall, makeToolResult, toThoughts, withAttachments } from "./messages.ts";
import { formatData } from "./pictures.ts";
import { findTagged, replaceTagged } from "./tags.ts";
import { asString, joinTexts, listFields } from "./values.ts";

export function toBlocks(content: unknown): Fields[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return listFields(content);
}

export const joinBlockTexts = (content: unknown, unhandled: Unhandled): string =>
  joinTexts(toBlocks(content).map((block) => readBlock(block, unhandled)));

function readBlock(block: Fields, unhandled: Unhandled): string {
  switch (block.type) {
    case "text":
    case "toolResult":
      return asString(block.text) ?? "";
    case "image": {
      const { data, image } = isFields(block.source) ? block.source : block;
      return formatData("image", readAttachment(block).type, data ?? image);
    }
    default:
      unhandled(`content.${asString(block.type) ?? "(none)"}`);
      return "";
  }
}

function readAttachment(block: Fields): Fields {
  const from = isFields(block.source) ? block.source : block;
  const type = asString(from.mimeType) ?? asString(from.media_type) ?? asString(from.mediaType);
  const name = asString(block.filename) ?? asString(block.fileName) ?? asString(block.name);
  return makeAttachment(type, name);
}

/** Makes notices of what the program added to the user's words (`<system-reminder>`). */
export function splitUserText(text: string): Message[] {
  const added = findTagged(text, "system-reminder").map((one) => ({ ...one, end: skipBlanks(text, one.end) }));
  const own = added.length > 0 ? replaceTagged(text, added).trim() : text;
  const notices = added.map(({ start, end }) => makeNotice(text.slice(start, end).trim(), "user"));
  return own.trim() === "" ? notices : [...notices, { role: "user", content: own }];
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at).trim() === "") at++;
  return at;
}

export function readAssistantBlocks(content: unknown, unhandled: Unhandled): Message[] {
  return toBlocks(content).flatMap((block): Message[] => {
    switch (block.type) {
      case "thinking":
      case "think":
      case "thought":
      case "reasoning":
        return toThoughts(asString(block.thinking) ?? asString(block.think) ?? block.text);

      case "redacted_thinking":
        return [];
      case "toolCall":
      case "tool_call":
      case "tool_use":
        return [makeToolCall(block.name, block.id, block.arguments ?? block.input)];
      default: {
        const text = readBlock(block, unhandled);
        return text ? [{ role: "assistant", content: text }] : [];
      }
    }
  });
}

export function readUserBlocks(content: unknown, unhandled: Unhandled): Message[] {
  return toBlocks(content).flatMap((block): Message[] => {
    if (block.type === "tool_result") {
      const output = joinBlockTexts(block.content, unhandled);
      return [makeToolResult(output, { callId: block.tool_use_id, isError: block.is_error === true })];
    }
    const text = readBlock(block, unhandled);
    if (block.type === "image") return [withAttachments({ role: "user", content: text }, [readAttachment(block)])];
    return text.trim() === "" ? [] : splitUserText(text);
  });
}
