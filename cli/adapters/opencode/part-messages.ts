import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import {
  makeAttachment,
  makeNotice,
  makeThought,
  makeToolCall,
  makeToolResult,
  withAttachments,
  withTime,
} from "../messages.ts";
import { formatData, parseDataUrlType } from "../pictures.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asCount, asFields, asString, joinTexts, listFields } from "../values.ts";

const skippedParts = new Set(["step-start", "step-finish", "snapshot", "patch", "agent"]);

export function readPart(part: Fields, info: Fields, unhandled: Unhandled): Message[] {
  const type = asString(part.type) ?? "(none)";
  switch (type) {
    case "text":
      return readText(part, info);
    case "reasoning": {
      const text = asString(part.text);
      return text ? [withTime(makeThought(text), asFields(part.time).start)] : [];
    }
    case "tool":
      return readTool(part);
    case "file":
      return [makeFileMessage(part, info.role)];
    case "subtask":
      return [makeMessage(joinTexts([part.description, part.prompt], "\n\n"), info)];
    case "compaction":
      return [makeNotice("The conversation so far was compacted.")];
    case "retry":
      return [makeNotice(`Tried again: ${formatError(part.error)}`)];
    default:
      if (!skippedParts.has(type)) unhandled(`part.${type}`);
      return [];
  }
}

export const readErrors = ({ error }: Fields): Message[] => (isFields(error) ? [makeNotice(formatError(error))] : []);

function formatError(error: unknown): string {
  if (!isFields(error)) return "Error";
  const message = isFields(error.data) ? asString(error.data.message) : asString(error.message);
  return [asString(error.name) ?? "Error", message].filter(Boolean).join(": ");
}

function readText({ text, synthetic, ignored, time }: Fields, info: Fields): Message[] {
  const content = asString(text);
  if (content === undefined) return [];
  const isNotice = synthetic === true || ignored === true || info.summary === true;
  const role = info.role === "assistant" ? "assistant" : "user";
  const message = isNotice ? makeNotice(content, role) : makeMessage(content, info);
  return [withTime(message, asFields(time).start)];
}

export function makeFileMessage({ filename, name: newerName, mime, url, uri }: Fields, role: unknown): Message {
  const type = asString(mime);
  const address = asString(url) ?? asString(uri);
  const isInline = parseDataUrlType(address) !== undefined;
  const name = asString(filename) ?? asString(newerName) ?? (isInline ? undefined : asString(uri));
  const content =
    isInline && type?.startsWith("image/")
      ? formatData("image", type, address)
      : `[file: ${name?.slice(0, 2048) ?? "unnamed"}, ${type ?? "unknown"}]`;
  return withAttachments(makeMessage(content, { role }), [makeAttachment(type, name)]);
}

const makeMessage = (content: string, { role }: Fields): Message => ({
  role: role === "assistant" ? "assistant" : "user",
  content,
});

function readTool({ callID, tool: name, state }: Fields): Message[] {
  const callId = asString(callID);
  const { status, input, output, error, metadata, time } = asFields(state);
  const { start, end } = asFields(time);
  const call = withTime(makeToolCall(name, callId, input), start);
  if (status !== "completed" && status !== "error") return [call];
  const about = asFields(metadata);
  const { attachments } = state as Fields;
  const files = listFields(attachments).map((file) => makeFileMessage(file, "tool").content);
  const text = asString(status === "error" ? error : output);
  const result = makeToolResult(joinTexts([text, ...files]), {
    callId,
    // A tool of this name answers invalid calls, and succeeds.
    isError: status === "error" || name === "invalid",
    exitCode: about.exit,
    durationMs: typeof start === "number" && typeof end === "number" ? asCount(end - start) : undefined,
    patch: about.diff,
    session: about.sessionId,
  });
  return [call, withTime(result, end)];
}

/** In newer versions `output` excludes `reasoning`, as a total shows. @param isNewer whether it is known to */
export function readUsage(tokens: Fields, isNewer = false): Usage {
  const cache = asFields(tokens.cache);
  const usage = readTokens({
    inputTokens: tokens.input,
    outputTokens: tokens.output,
    cacheReadTokens: cache.read,
    cacheWriteTokens: cache.write,
    reasoningTokens: tokens.reasoning,
  });
  const sum = Object.values(usage).reduce((total, count) => total + count, 0);
  const { outputTokens = 0, reasoningTokens = 0 } = usage;
  const isSeparate = isNewer || asCount(tokens.total) === sum;
  return isSeparate ? { ...usage, outputTokens: outputTokens + reasoningTokens } : usage;
}
