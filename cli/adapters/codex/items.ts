import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeNotice, makeThought, makeToolCall, makeToolResult, withAttachments, withMetadata } from "../messages.ts";
import { formatData, formatUrl, parseDataUrlType } from "../pictures.ts";
import { asCount, asFields, asString, joinTexts, listFields, toWords } from "../values.ts";
import { splitUserText } from "./user-text.ts";

const skippedItems = toWords(
  "compaction compaction_summary compaction_trigger context_compaction additional_tools ghost_snapshot other",
);

/** Tools that the reader recognizes only by the last part of their name. */
const kinds: Record<string, string> = { spawn_agent: "subagent", update_plan: "tasks", request_user_input: "question" };

export function readItem(item: Fields, unhandled: Unhandled, agentPath?: string): Message[] {
  const callId = asString(item.call_id) ?? asString(item.id);
  switch (item.type ?? (typeof item.role === "string" ? "message" : undefined)) {
    case "message":
      return readTextMessages(item, unhandled);
    case "agent_message":
      return readAgentMessages(item, unhandled, agentPath);
    case "reasoning": {
      const text = readText(item.summary, unhandled) || readText(item.content, unhandled);
      return text ? [makeThought(text)] : [];
    }
    case "function_call":
      return [makeCall(item, callId, item.arguments)];
    case "custom_tool_call":
      return [makeCall(item, callId, item.input)];
    case "local_shell_call":
      return [makeToolCall("local_shell", callId, item.action)];
    case "web_search_call":
      return [makeToolCall("web_search", callId, item.action)];
    case "tool_search_call":
      return [makeToolCall("tool_search", callId, item.arguments)];
    case "image_generation_call":
      return [
        makeToolCall("image_generation", callId, { prompt: item.revised_prompt ?? "" }),
        ...(asString(item.result) ? [makeToolResult(formatData("image", "image/png", item.result), { callId })] : []),
      ];
    case "function_call_output":
    case "custom_tool_call_output":
    case "mcp_tool_call_output":
      return [readResult(item.output, callId, unhandled)];
    case "tool_search_output":
      return [makeToolResult(JSON.stringify(item.tools ?? []), { callId })];
    default: {
      const type = asString(item.type) ?? "(none)";
      if (!skippedItems.has(type)) unhandled(`response_item.${type}`);
      return [];
    }
  }
}

/** Events may repeat the texts of a reasoning item one by one. */
export const listReasoningTexts = ({ summary, content }: Fields): string[] =>
  [summary, content].flatMap((parts) => {
    const texts = listFields(parts).flatMap(({ text }) => asString(text) ?? []);
    return texts.length > 1 ? [...texts, texts.join("\n"), texts.join("")] : texts;
  });

function makeCall({ name, namespace }: Fields, callId: string | undefined, input: unknown): Message {
  const bare = asString(name) ?? "tool";
  const prefix = asString(namespace);
  const call = makeToolCall(prefix ? `${prefix}.${bare}` : bare, callId, input);
  return prefix ? withMetadata(call, { kind: Object.hasOwn(kinds, bare) ? kinds[bare] : undefined }) : call;
}

function readTextMessages({ role, content }: Fields, unhandled: Unhandled): Message[] {
  if (role === "user") return readUserMessages(content, unhandled);
  const text = readText(content, unhandled);
  if (text === "") return [];
  return [role === "assistant" ? { role: "assistant", content: text } : makeNotice(text, asString(role) ?? "system")];
}

const imageTag = /^<\/?image\b[^>]*>$/;

function readUserMessages(content: unknown, unhandled: Unhandled): Message[] {
  const messages: Message[] = [];
  const words: string[] = [];
  const attachments: Fields[] = [];
  for (const part of typeof content === "string" ? [{ type: "input_text", text: content }] : listFields(content)) {
    const text = readPart(part, unhandled);
    if (text === "" || imageTag.test(text)) continue;
    const type = getAttachedType(part);
    if (type) attachments.push(type);
    const texts: Message[] = type ? [{ role: "user", content: text }] : splitUserText(text);
    for (const message of texts) {
      if (message.metadata) messages.push(message);
      else words.push(message.content);
    }
  }
  if (words.length === 0) return messages;
  const own = { role: "user", content: words.join("\n") };
  return [...messages, withAttachments(own, attachments)];
}

const header = /^Message Type: \w+\nTask name: [^\n]*\nSender: [^\n]*\nPayload:\n?/;

export function readAgentMessages(
  { author, recipient, content }: Fields,
  unhandled: Unhandled,
  agentPath?: string,
): Message[] {
  const written = readText(content, unhandled);
  const text = written.replace(header, "").trim();
  if (text !== "" && agentPath !== undefined && recipient === agentPath) return [{ role: "user", content: text }];
  const from = asString(author);
  const shown = text === "" ? written.trim() : from ? `${from}: ${text}` : text;
  return shown === "" ? [] : [makeNotice(shown, "user")];
}

const readText = (content: unknown, unhandled: Unhandled): string =>
  typeof content === "string" ? content : joinTexts(listFields(content).map((part) => readPart(part, unhandled)));

function readPart(part: Fields, unhandled: Unhandled): string {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "summary_text":
    case "reasoning_text":
    case "text":
      return asString(part.text) ?? "";
    case "input_image":
      return formatUrl("image", asString(part.image_url) ?? "");
    case "input_audio":
      return formatUrl("audio", asString(part.audio_url) ?? "");
    case "encrypted_content": {
      const text = asString(part.encrypted_content) ?? "";
      return isEncrypted(text) ? "" : text;
    }
    default:
      unhandled(`content.${asString(part.type) ?? "(none)"}`);
      return "";
  }
}

/** Some versions put plain text here. */
const isEncrypted = (text: string): boolean => text.startsWith("gAAAAA") || /^[\w+/=-]{60,}$/.test(text);

function getAttachedType({ type, image_url, audio_url }: Fields): { type: string } | undefined {
  if (type !== "input_image" && type !== "input_audio") return undefined;
  return { type: parseDataUrlType(image_url ?? audio_url) ?? String(type).slice("input_".length) };
}

function readResult(output: unknown, callId: string | undefined, unhandled: Unhandled): Message {
  const isError = isFields(output) && output.success === false;
  const text = readText(isFields(output) ? output.content : output, unhandled);
  const parsed = /^\s*\{\s*"(?:output|metadata|agent_id)"/.test(text) ? parseJson(text) : undefined;
  const session = asString(asFields(parsed).agent_id);
  if (!isFields(parsed) || typeof parsed.output !== "string") return makeToolResult(text, { callId, isError, session });
  const about = asFields(parsed.metadata);
  const seconds = about.duration_seconds;
  return makeToolResult(parsed.output, {
    callId,
    isError,
    exitCode: about.exit_code,
    durationMs: typeof seconds === "number" ? asCount(Math.round(seconds * 1000)) : undefined,
  });
}
