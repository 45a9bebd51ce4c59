import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult } from "../messages.ts";
import { asCount, asString } from "../values.ts";

/** How user messages begin that the program injected. */
const injected =
  /^\s*(?:<(?:environment_context|user_instructions|permissions instructions|collaboration_mode|turn_aborted|skills_instructions|apps_instructions|INSTRUCTIONS|subagent_notification)\b|# AGENTS\.md instructions)/;

const skippedItems = new Set(["compaction", "compaction_summary", "context_compaction", "ghost_snapshot", "other"]);

/**
 * The messages in an item of Codex's history; none where it has no readable text.
 *
 * @param unhandled called with unknown types
 */
export function itemMessages(item: Fields, unhandled: (type: string) => void): Message[] {
  const callId = asString(item.call_id) ?? asString(item.id);
  // The first versions gave messages no type.
  switch (item.type ?? (typeof item.role === "string" ? "message" : undefined)) {
    case "message":
      return textMessage(item, unhandled);
    case "reasoning": {
      const text = textOf(item.summary, unhandled) || textOf(item.content, unhandled);
      return text ? [thinking(text)] : [];
    }
    case "function_call":
      return [toolCall(toolName(item), callId, item.arguments)];
    case "custom_tool_call":
      return [toolCall(toolName(item), callId, item.input)];
    case "local_shell_call":
      return [toolCall("local_shell", callId, item.action)];
    case "web_search_call":
      return [toolCall("web_search", callId, item.action)];
    case "tool_search_call":
      return [toolCall("tool_search", callId, item.arguments)];
    case "image_generation_call":
      return [toolCall("image_generation", callId, { prompt: item.revised_prompt ?? "" })];
    case "function_call_output":
    case "custom_tool_call_output":
      return [resultMessage(item.output, callId, unhandled)];
    case "tool_search_output":
      return [toolResult(JSON.stringify(item.tools ?? []), { callId })];
    default: {
      const type = asString(item.type) ?? "(none)";
      if (!skippedItems.has(type)) unhandled(`response_item.${type}`);
      return [];
    }
  }
}

/** An MCP tool's name begins with its server's. */
const toolName = ({ name, namespace }: Fields): string =>
  [asString(namespace), asString(name) ?? "tool"].filter(Boolean).join(".");

function textMessage({ role, content }: Fields, unhandled: (type: string) => void): Message[] {
  const text = textOf(content, unhandled);
  if (text === "") return [];
  switch (role) {
    case "assistant":
      return [{ role: "assistant", content: text }];
    case "user":
      return [injected.test(text) ? notice(text, "user") : { role: "user", content: text }];
    default:
      return [notice(text, asString(role) ?? "system")];
  }
}

function textOf(content: unknown, unhandled: (type: string) => void): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isFields)
    .map((part) => partText(part, unhandled))
    .filter(Boolean)
    .join("\n");
}

function partText(part: Fields, unhandled: (type: string) => void): string {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "summary_text":
    case "reasoning_text":
    case "text":
      return asString(part.text) ?? "";
    case "input_image":
      return imageText(asString(part.image_url) ?? "");
    case "encrypted_content":
      return "";
    default:
      unhandled(`content.${asString(part.type) ?? "(none)"}`);
      return "";
  }
}

/** A placeholder for an image: its type and size. */
function imageText(url: string): string {
  const [, type] = /^data:([\w/+.-]+)/.exec(url) ?? [];
  return type ? `[image: ${type}, ${Math.ceil((url.length * 3) / 4 / 1024)} KiB]` : `[image: ${url.slice(0, 2048)}]`;
}

/** An output is a text, a list of parts, or an object; some texts are JSON with the exit code beside the output. */
function resultMessage(output: unknown, callId: string | undefined, unhandled: (type: string) => void): Message {
  const isError = isFields(output) && output.success === false;
  const text = textOf(isFields(output) ? output.content : output, unhandled);
  const parsed = /^\s*\{\s*"(?:output|metadata)"/.test(text) ? parseJson(text) : undefined;
  if (!isFields(parsed) || typeof parsed.output !== "string") return toolResult(text, { callId, isError });
  const about = isFields(parsed.metadata) ? parsed.metadata : {};
  const seconds = about.duration_seconds;
  return toolResult(parsed.output, {
    callId,
    isError,
    exitCode: Number.isSafeInteger(about.exit_code) ? (about.exit_code as number) : undefined,
    durationMs: typeof seconds === "number" ? asCount(Math.round(seconds * 1000)) : undefined,
  });
}
