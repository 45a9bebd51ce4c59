import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult } from "../messages.ts";
import { dataText } from "../pictures.ts";
import { asString } from "../values.ts";

export const source = "goose";

/** Content without text: questions whether a tool may run, which its result answers, and the program's own state. */
const skipped = new Set(["toolConfirmationRequest", "redactedThinking"]);

/** Content that the program reports, by the name of its text. */
const reports: Record<string, string> = {
  systemNotification: "msg",
  contextLengthExceeded: "msg",
  summarizationRequested: "msg",
  conversationCompacted: "msg",
};

/** Seconds or milliseconds since 1970 as milliseconds; a text in UTC (`2026-11-01 10:00:00`) as ISO 8601. */
export function toTime(value: unknown): unknown {
  if (typeof value === "number") return value < 100_000_000_000 ? value * 1000 : value;
  const text = asString(value);
  return text && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$/.test(text) ? `${text.replace(" ", "T")}Z` : text;
}

/**
 * The messages in one of Goose's, whose content is a list.
 *
 * @param isHidden whether it is not shown to the user
 */
export function contentMessages(
  role: unknown,
  content: unknown,
  isHidden: boolean,
  unhandled: (type: string) => void,
): Message[] {
  if (role !== "user" && role !== "assistant") {
    unhandled(`role.${asString(role) ?? "(none)"}`);
    return [];
  }
  const items = Array.isArray(content) ? content.filter(isFields) : [];
  return items.flatMap((item): Message[] => {
    const text = asString(item.text);
    switch (item.type) {
      case "text":
        if (!text?.trim()) return [];
        return [isHidden ? notice(text, role) : { role, content: text }];
      case "image":
        return [{ role, content: dataText("image", item.mimeType, item.data) }];
      case "thinking":
      case "reasoning": {
        const thought = asString(item.thinking) ?? text;
        return thought?.trim() ? [thinking(thought)] : [];
      }
      case "toolRequest":
      case "frontendToolRequest":
        return [callMessage(item)];
      case "toolResponse":
        return [resultMessage(item, unhandled)];
      case "actionRequired":
        return makeNotices(isFields(item.data) ? item.data.message : undefined);
      default:
        return otherMessages(item, unhandled);
    }
  });
}

const makeNotices = (text: unknown): Message[] => (asString(text) ? [notice(asString(text) ?? "")] : []);

function otherMessages(item: Fields, unhandled: (type: string) => void): Message[] {
  const type = asString(item.type) ?? "(none)";
  const report = Object.hasOwn(reports, type) ? reports[type] : undefined;
  // What Goose is busy with at the moment is no message.
  if (report) return item.notificationType === "thinkingMessage" ? [] : makeNotices(item[report]);
  if (!skipped.has(type)) unhandled(`content.${type}`);
  return [];
}

function callMessage({ id, toolCall: envelope }: Fields): Message {
  const { value, error } = isFields(envelope) ? envelope : ({} as Fields);
  if (isFields(value)) return toolCall(asString(value.name) ?? "tool", asString(id), value.arguments);
  return toolCall("tool", asString(id), asString(error));
}

function resultMessage({ id, toolResult: envelope }: Fields, unhandled: (type: string) => void): Message {
  const { status, value, error } = isFields(envelope) ? envelope : ({} as Fields);
  const callId = asString(id);
  if (status === "error") return toolResult(asString(error) ?? "Error", { callId, isError: true });
  const content = isFields(value) ? value.content : value;
  const items = (Array.isArray(content) ? content : []).filter(isFields);
  const forModel = items.filter((item) => getAudience(item)?.includes("assistant") !== false);
  const output = (forModel.length > 0 ? forModel : items)
    .map((item) => itemText(item, unhandled))
    .filter(Boolean)
    .join("\n");
  return toolResult(output || (typeof content === "string" ? content : ""), {
    callId,
    isError: isFields(value) && value.isError === true,
  });
}

function getAudience({ annotations }: Fields): unknown[] | undefined {
  return isFields(annotations) && Array.isArray(annotations.audience) ? annotations.audience : undefined;
}

function itemText(item: Fields, unhandled: (type: string) => void): string {
  switch (item.type) {
    case "text":
      return asString(item.text) ?? "";
    case "image":
    case "audio":
      return dataText(item.type, item.mimeType, item.data);
    case "resource": {
      const resource = isFields(item.resource) ? item.resource : {};
      return asString(resource.text) ?? dataText("resource", resource.mimeType, resource.blob);
    }
    case "resource_link":
      return asString(item.uri) ?? "";
    default:
      unhandled(`result.${asString(item.type) ?? "(none)"}`);
      return "";
  }
}
