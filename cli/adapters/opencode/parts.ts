import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { dataText, parseDataUrlType } from "../pictures.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString, asTimestamp } from "../values.ts";

/** Parts without text. */
const skippedParts = new Set(["step-start", "step-finish", "snapshot", "patch", "agent"]);

/**
 * The messages in a part of an OpenCode message; none where it has no text.
 *
 * @param info the message that the part belongs to
 * @param unhandled called with unknown types
 */
export function partMessages(part: Fields, info: Fields, unhandled: (type: string) => void): Message[] {
  const type = asString(part.type) ?? "(none)";
  switch (type) {
    case "text":
      return textMessages(part, info);
    case "reasoning": {
      const text = asString(part.text);
      return text ? [withTime(thinking(text), isFields(part.time) ? part.time.start : undefined)] : [];
    }
    case "tool":
      return toolMessages(part);
    case "file":
      return [fileMessage(part, info.role)];
    case "subtask":
      return [plainMessage([part.description, part.prompt].map(asString).filter(Boolean).join("\n\n"), info)];
    case "compaction":
      return [notice("The conversation so far was compacted.")];
    case "retry":
      return [notice(`Tried again: ${errorText(part.error)}`)];
    default:
      if (!skippedParts.has(type)) unhandled(`part.${type}`);
      return [];
  }
}

/** The error that stopped a message, as a notice. */
export const errorMessages = ({ error }: Fields): Message[] => (isFields(error) ? [notice(errorText(error))] : []);

function errorText(error: unknown): string {
  if (!isFields(error)) return "Error";
  const message = isFields(error.data) ? asString(error.data.message) : asString(error.message);
  return [asString(error.name) ?? "Error", message].filter(Boolean).join(": ");
}

function textMessages({ text, synthetic, ignored, time }: Fields, info: Fields): Message[] {
  const content = asString(text);
  if (content === undefined) return [];
  // A summary replaces the history; synthetic text was injected by the program.
  const isNotice = synthetic === true || ignored === true || info.summary === true;
  const role = info.role === "assistant" ? "assistant" : "user";
  const message = isNotice ? notice(content, role) : plainMessage(content, info);
  return [withTime(message, isFields(time) ? time.start : undefined)];
}

/** A file that was attached: of its content only a picture is sent. */
export function fileMessage({ filename, name: newerName, mime, url, uri }: Fields, role: unknown): Message {
  const type = asString(mime);
  const address = asString(url) ?? asString(uri);
  const isInline = parseDataUrlType(address) !== undefined;
  const name = asString(filename) ?? asString(newerName) ?? (isInline ? undefined : asString(uri));
  const attachment = { ...(type && { type }), ...(name && { name: name.slice(0, 2048) }) };
  const content =
    isInline && type?.startsWith("image/")
      ? dataText("image", type, address)
      : `[file: ${name?.slice(0, 2048) ?? "unnamed"}, ${type ?? "unknown"}]`;
  return withMetadata(plainMessage(content, { role }), { attachments: [attachment] });
}

const plainMessage = (content: string, { role }: Fields): Message => ({
  role: role === "assistant" ? "assistant" : "user",
  content,
});

export function withTime(message: Message, at: unknown): Message {
  const createdAt = asTimestamp(at);
  return createdAt ? { ...message, createdAt } : message;
}

function toolMessages({ callID, tool: name, state }: Fields): Message[] {
  const callId = asString(callID);
  const { status, input, output, error, metadata, time } = isFields(state) ? state : ({} as Fields);
  const { start, end } = isFields(time) ? time : ({} as Fields);
  const call = withTime(toolCall(asString(name) ?? "tool", callId, input), start);
  if (status !== "completed" && status !== "error") return [call];
  const about = isFields(metadata) ? metadata : {};
  const { attachments } = state as Fields;
  const files = (Array.isArray(attachments) ? attachments.filter(isFields) : []).map(
    (file) => fileMessage(file, "tool").content,
  );
  const text = asString(status === "error" ? error : output);
  const result = toolResult([text, ...files].filter(Boolean).join("\n"), {
    callId,
    // A call that was not valid is answered by a tool of this name, which succeeds.
    isError: status === "error" || name === "invalid",
    exitCode: Number.isSafeInteger(about.exit) ? (about.exit as number) : undefined,
    durationMs: typeof start === "number" && typeof end === "number" ? asCount(end - start) : undefined,
    patch: asString(about.diff),
    session: asString(about.sessionId),
  });
  return [call, withTime(result, end)];
}

/** In newer versions `output` excludes `reasoning`: a total tells, where there is one. @param isNewer whether it is known to */
export function readUsage(tokens: Fields, isNewer = false): Usage {
  const cache = isFields(tokens.cache) ? tokens.cache : {};
  const [input = 0, output = 0, reasoning = 0, read = 0, write = 0] = [
    tokens.input,
    tokens.output,
    tokens.reasoning,
    cache.read,
    cache.write,
  ].map((value) => asCount(value) ?? 0);
  const isSeparate = isNewer || asCount(tokens.total) === input + output + reasoning + read + write;
  return {
    inputTokens: input,
    outputTokens: isSeparate ? output + reasoning : output,
    cacheReadTokens: read,
    cacheWriteTokens: write,
    reasoningTokens: reasoning,
  };
}
