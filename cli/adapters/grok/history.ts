import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { userText } from "../cursor/text.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { dataText, parseDataUrlType } from "../pictures.ts";
import { asString } from "../values.ts";

type Unhandled = (type: string) => void;

/** The model that answered. */
export const getModel = ({ model_id: model }: Fields): string | undefined => asString(model);

/** The messages in an item of the model's history; the first versions gave items a role instead of a type. */
export function historyMessages(item: Fields, unhandled: Unhandled): Message[] {
  switch (item.type ?? item.role) {
    case "system": // the agent's own prompt
      return [];
    case "user":
      return userMessages(item, unhandled);
    case "assistant":
      return answerMessages(item);
    case "reasoning": {
      const text = [...listTexts(item.summary), ...listTexts(item.content)].join("\n");
      return text ? [thinking(text)] : [];
    }
    case "tool_result":
    case "tool":
      return [toolResult(listTexts(item.content).join("\n"), { callId: asString(item.tool_call_id) })];
    case "backend_tool_call": {
      const { tool_type: name, id, ...input } = isFields(item.kind) ? item.kind : ({} as Fields);
      return [toolCall(asString(name) ?? "tool", asString(id), input.action ?? input)];
    }
    default:
      unhandled(asString(item.type) ?? asString(item.role) ?? "(none)");
      return [];
  }
}

/** What the user said; what the program put in the user's place has a reason, but for words that came while the agent worked. */
function userMessages({ content, synthetic_reason: reason }: Fields, unhandled: Unhandled): Message[] {
  const text = listTexts(content).join("\n");
  if (reason !== undefined && reason !== null && reason !== "interjection") return text ? [notice(text, "user")] : [];
  const parts = Array.isArray(content) ? content.filter(isFields) : [];
  const images = parts.filter(({ type }) => type === "image").map(({ url }) => imageMessage(url));
  for (const { type } of parts)
    if (type !== "text" && type !== "image") unhandled(`content.${asString(type) ?? "(none)"}`);
  return [...userText(text), ...images];
}

function imageMessage(url: unknown): Message {
  const type = parseDataUrlType(url);
  const attachment = type ? { type } : { type: "image", name: String(url).slice(0, 2048) };
  return withMetadata({ role: "user", content: dataText("image", type, type && url) }, { attachments: [attachment] });
}

function answerMessages({ content, tool_calls: calls, reasoning_content: thought }: Fields): Message[] {
  const text = listTexts(content).join("\n");
  const listed = Array.isArray(calls) ? calls.filter(isFields) : [];
  return [
    ...(asString(thought) ? [thinking(String(thought))] : []),
    ...(text.trim() ? [{ role: "assistant", content: text }] : []),
    ...listed.map(({ id, function: called, ...call }) => {
      const { name, arguments: input } = isFields(called) ? called : call;
      return toolCall(asString(name) ?? "tool", asString(id), input);
    }),
  ];
}

/** The texts of a content: a text, or a list of parts. */
function listTexts(content: unknown): string[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  return (Array.isArray(content) ? content.filter(isFields) : []).flatMap(({ text }) => asString(text) ?? []);
}
