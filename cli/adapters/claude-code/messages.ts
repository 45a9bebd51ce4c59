import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { dataText } from "../blocks.ts";
import { notice, thinking, toolCall, toolResult } from "../messages.ts";
import { asCount, asString } from "../values.ts";

/**
 * The messages in a line of Claude Code: one for each block of its content.
 *
 * @param unhandled called with unknown types
 * @returns undefined where the line is invalid; none where it has no text
 */
export function messagesOf(record: Fields, unhandled: (type: string) => void): Message[] | undefined {
  if (record.type === "system") return systemMessages(record, unhandled);
  const { message } = record;
  if (!isFields(message)) return undefined;
  const { content } = message;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(blocks)) return undefined;
  return blocks.flatMap((block) => (isFields(block) ? blockMessages(block, record, unhandled) : []));
}

const shownSystemTypes = new Set(["compact_boundary", "informational", "local_command", "model_refusal_fallback"]);
const skippedSystemTypes = new Set(
  `api_error api_metrics away_summary bridge_status memory_saved microcompact_boundary permission_retry scheduled_task_fire
  stop_hook_summary turn_duration agents_killed`.split(/\s+/),
);

function systemMessages({ subtype, content }: Fields, unhandled: (type: string) => void): Message[] {
  const name = asString(subtype) ?? "";
  if (shownSystemTypes.has(name)) {
    const text = asString(content);
    if (text === undefined) return [];
    // The output of the user's own command is marked as such in its text.
    return [name === "local_command" ? { role: "user", content: text } : notice(text)];
  }
  if (!skippedSystemTypes.has(name)) unhandled(name ? `system.${name}` : "system");
  return [];
}

function blockMessages(block: Fields, record: Fields, unhandled: (type: string) => void): Message[] {
  switch (block.type) {
    case "text":
      return textMessages(asString(block.text), record);
    case "thinking": {
      const text = asString(block.thinking);
      return text ? [thinking(text)] : [];
    }
    case "redacted_thinking":
      return [];
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return [toolCall(asString(block.name) ?? "tool", asString(block.id), block.input)];
    case "tool_result":
    case "mcp_tool_result":
    case "web_search_tool_result":
    case "web_fetch_tool_result":
      return [resultMessage(block, record, unhandled)];
    case "image":
    case "document":
      return [{ role: "user", content: attachmentText(block) }];
    default:
      unhandled(`content.${asString(block.type) ?? "(none)"}`);
      return [];
  }
}

function textMessages(text: string | undefined, record: Fields): Message[] {
  if (text === undefined) return [];
  if (record.type === "assistant") return [record.isApiErrorMessage === true ? notice(text) : assistant(text)];
  const isInjected = record.isMeta === true || record.isCompactSummary === true;
  return [isInjected ? notice(text, "user") : { role: "user", content: text }];
}

const assistant = (text: string): Message => ({ role: "assistant", content: text });

function resultMessage(block: Fields, record: Fields, unhandled: (type: string) => void): Message {
  const details = isFields(record.toolUseResult) ? record.toolUseResult : {};
  const agentId = asString(details.agentId);
  const sessionId = asString(record.sessionId);
  return toolResult(outputOf(block.content, unhandled), {
    callId: asString(block.tool_use_id),
    isError: block.is_error === true,
    durationMs: asCount(details.totalDurationMs) ?? asCount(details.durationMs),
    patch: patchOf(details.structuredPatch),
    session: agentId && sessionId ? `${sessionId}/agent-${agentId}` : undefined,
  });
}

function outputOf(content: unknown, unhandled: (type: string) => void): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isFields)
    .map((block) => partOf(block, unhandled))
    .filter(Boolean)
    .join("\n");
}

function partOf(block: Fields, unhandled: (type: string) => void): string {
  switch (block.type) {
    case "text":
      return asString(block.text) ?? "";
    case "image":
    case "document":
      return attachmentText(block);
    case "web_search_result":
      return [asString(block.title), asString(block.url)].filter(Boolean).join(" ");
    case "tool_reference":
      return asString(block.tool_name) ?? "";
    default:
      unhandled(`tool_result.${asString(block.type) ?? "(none)"}`);
      return "";
  }
}

/** A placeholder for an image or a document. */
function attachmentText({ type, source }: Fields): string {
  const { media_type: mediaType, data } = isFields(source) ? source : {};
  return dataText(String(type), mediaType, data);
}

/** A tool's reported changes as a unified diff. */
function patchOf(hunks: unknown): string | undefined {
  if (!Array.isArray(hunks) || hunks.length === 0) return undefined;
  const texts = hunks.filter(isFields).map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    const body = Array.isArray(lines) ? lines.filter((line) => typeof line === "string").join("\n") : "";
    const [from, to] = [`${Number(oldStart)},${Number(oldLines)}`, `${Number(newStart)},${Number(newLines)}`];
    return `@@ -${from} +${to} @@\n${body}`;
  });
  return texts.join("\n");
}
