import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeNotice, makeToolCall, makeToolResult, toNotices, toTexts, toThoughts } from "../messages.ts";
import { formatData } from "../pictures.ts";
import { asFields, asString, listFields, toMilliseconds } from "../values.ts";

export const source = "goose";

/** A result answers whether a tool may run. */
const skipped = new Set(["toolConfirmationRequest", "redactedThinking"]);

const reports: Record<string, string> = {
  systemNotification: "msg",
  contextLengthExceeded: "msg",
  summarizationRequested: "msg",
  conversationCompacted: "msg",
};

/** A text is in UTC (`2026-11-01 10:00:00`). */
export function toTime(value: unknown): unknown {
  if (typeof value === "number") return toMilliseconds(value);
  const text = asString(value);
  return text && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$/.test(text) ? `${text.replace(" ", "T")}Z` : text;
}

export function readContent(role: unknown, content: unknown, isHidden: boolean, unhandled: Unhandled): Message[] {
  if (role !== "user" && role !== "assistant") {
    unhandled(`role.${asString(role) ?? "(none)"}`);
    return [];
  }
  const items = listFields(content);
  return items.flatMap((item): Message[] => {
    const text = asString(item.text);
    switch (item.type) {
      case "text":
        return toTexts(role, text).map((message) => (isHidden ? makeNotice(message.content, role) : message));
      case "image":
        return [{ role, content: formatData("image", item.mimeType, item.data) }];
      case "thinking":
      case "reasoning":
        return toThoughts(asString(item.thinking) ?? text);
      case "toolRequest":
      case "frontendToolRequest":
        return [readCall(item)];
      case "toolResponse":
        return [readResult(item, unhandled)];
      case "actionRequired":
        return toNotices(asFields(item.data).message);
      default:
        return readOther(item, unhandled);
    }
  });
}

function readOther(item: Fields, unhandled: Unhandled): Message[] {
  const type = asString(item.type) ?? "(none)";
  const report = Object.hasOwn(reports, type) ? reports[type] : undefined;
  if (report) return item.notificationType === "thinkingMessage" ? [] : toNotices(item[report]);
  if (!skipped.has(type)) unhandled(`content.${type}`);
  return [];
}

function readCall({ id, toolCall: envelope }: Fields): Message {
  const { value, error } = asFields(envelope);
  if (isFields(value)) return makeToolCall(value.name, id, value.arguments);
  return makeToolCall("tool", asString(id), asString(error));
}

function readResult({ id, toolResult: envelope }: Fields, unhandled: Unhandled): Message {
  const { status, value, error } = asFields(envelope);
  const callId = asString(id);
  if (status === "error") return makeToolResult(asString(error) ?? "Error", { callId, isError: true });
  const content = isFields(value) ? value.content : value;
  const items = listFields(content);
  const forModel = items.filter((item) => getAudience(item)?.includes("assistant") !== false);
  const output = (forModel.length > 0 ? forModel : items)
    .map((item) => readItemText(item, unhandled))
    .filter(Boolean)
    .join("\n");
  return makeToolResult(output || (typeof content === "string" ? content : ""), {
    callId,
    isError: isFields(value) && value.isError === true,
  });
}

function getAudience({ annotations }: Fields): unknown[] | undefined {
  return isFields(annotations) && Array.isArray(annotations.audience) ? annotations.audience : undefined;
}

function readItemText(item: Fields, unhandled: Unhandled): string {
  switch (item.type) {
    case "text":
      return asString(item.text) ?? "";
    case "image":
    case "audio":
      return formatData(item.type, item.mimeType, item.data);
    case "resource": {
      const resource = asFields(item.resource);
      return asString(resource.text) ?? formatData("resource", resource.mimeType, resource.blob);
    }
    case "resource_link":
      return asString(item.uri) ?? "";
    default:
      unhandled(`result.${asString(item.type) ?? "(none)"}`);
      return "";
  }
}
