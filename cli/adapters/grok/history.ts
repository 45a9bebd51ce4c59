import type { Fields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { readUserText } from "../cursor/text.ts";
import { makeToolCall, makeToolResult, toFunctionCall, toNotices, toTexts, toThoughts } from "../messages.ts";
import { makePicture } from "../pictures.ts";
import { asFields, asString, listFields } from "../values.ts";

export const getModel = ({ model_id: model }: Fields): string | undefined => asString(model);

export function readHistoryItem(item: Fields, unhandled: Unhandled): Message[] {
  switch (item.type ?? item.role) {
    case "system":
      return [];
    case "user":
      return readUserMessages(item, unhandled);
    case "assistant":
      return readAnswer(item);
    case "reasoning":
      return toThoughts([...listTexts(item.summary), ...listTexts(item.content)].join("\n"));
    case "tool_result":
    case "tool":
      return [makeToolResult(listTexts(item.content).join("\n"), { callId: item.tool_call_id })];
    case "backend_tool_call": {
      const { tool_type: name, id, ...input } = asFields(item.kind);
      return [makeToolCall(name, id, input.action ?? input)];
    }
    default:
      unhandled(asString(item.type) ?? asString(item.role) ?? "(none)");
      return [];
  }
}

/** Prompts that arrived while the agent worked also have a reason. */
function readUserMessages({ content, synthetic_reason: reason }: Fields, unhandled: Unhandled): Message[] {
  const text = listTexts(content).join("\n");
  if (reason !== undefined && reason !== null && reason !== "interjection") return toNotices(text, "user");
  const parts = listFields(content);
  const images = parts.filter(({ type }) => type === "image").map(({ url }) => makePicture(url));
  for (const { type } of parts)
    if (type !== "text" && type !== "image") unhandled(`content.${asString(type) ?? "(none)"}`);
  return [...readUserText(text), ...images];
}

function readAnswer({ content, tool_calls: calls, reasoning_content: thought }: Fields): Message[] {
  const text = listTexts(content).join("\n");
  return [...toThoughts(thought), ...toTexts("assistant", text), ...listFields(calls).map(toFunctionCall)];
}

function listTexts(content: unknown): string[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  return listFields(content).flatMap(({ text }) => asString(text) ?? []);
}
