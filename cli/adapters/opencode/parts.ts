import { type Fields, isFields } from "../../files/json-lines.ts";
import type { Message } from "../adapter.ts";
import { asCount, asString, asTimestamp, notice, thinking, toolCall, toolResult, type Usage } from "../metadata.ts";

/** Parts that say nothing to anybody; what a step cost is in its message as well. */
const silent = new Set(["step-start", "step-finish", "snapshot", "patch", "agent"]);

/**
 * The messages in a part of a message of OpenCode's, none where it says nothing.
 *
 * @param info the message that it is a part of
 * @param unhandled takes the types of parts that are not known
 */
export function partMessages(part: Fields, info: Fields, unhandled: (type: string) => void): Message[] {
  const type = asString(part.type) ?? "(none)";
  switch (type) {
    case "text":
      return spoken(part, info);
    case "reasoning": {
      const text = asString(part.text);
      return text ? [timed(thinking(text), isFields(part.time) ? part.time.start : undefined)] : [];
    }
    case "tool":
      return tool(part);
    case "file":
      return [said(`[file: ${asString(part.filename) ?? "unnamed"}, ${asString(part.mime) ?? "unknown"}]`, info)];
    case "subtask":
      return [said([part.description, part.prompt].map(asString).filter(Boolean).join("\n\n"), info)];
    case "compaction":
      return [notice("The conversation so far was compacted.")];
    case "retry":
      return [notice(`Tried again: ${errorText(part.error)}`)];
    default:
      if (!silent.has(type)) unhandled(`part.${type}`);
      return [];
  }
}

/** What stopped a message, as a notice. */
export const errorMessages = ({ error }: Fields): Message[] => (isFields(error) ? [notice(errorText(error))] : []);

function errorText(error: unknown): string {
  if (!isFields(error)) return "Error";
  const message = isFields(error.data) ? asString(error.data.message) : asString(error.message);
  return [asString(error.name) ?? "Error", message].filter(Boolean).join(": ");
}

function spoken({ text, synthetic, ignored, time }: Fields, info: Fields): Message[] {
  const content = asString(text);
  if (content === undefined) return [];
  // A summary stands in the place of the history; what is synthetic the program has put in.
  const isNotice = synthetic === true || ignored === true || info.summary === true;
  const role = info.role === "assistant" ? "assistant" : "user";
  const message = isNotice ? notice(content, role) : said(content, info);
  return [timed(message, isFields(time) ? time.start : undefined)];
}

const said = (content: string, { role }: Fields): Message => ({
  role: role === "assistant" ? "assistant" : "user",
  content,
});

function timed(message: Message, at: unknown): Message {
  const createdAt = asTimestamp(at);
  return createdAt ? { ...message, createdAt } : message;
}

function tool({ callID, tool: name, state }: Fields): Message[] {
  const callId = asString(callID);
  const { status, input, output, error, metadata, time } = isFields(state) ? state : ({} as Fields);
  const { start, end } = isFields(time) ? time : ({} as Fields);
  const call = timed(toolCall(asString(name) ?? "tool", callId, input), start);
  if (status !== "completed" && status !== "error") return [call];
  const about = isFields(metadata) ? metadata : {};
  const result = toolResult(asString(status === "error" ? error : output) ?? "", {
    callId,
    isError: status === "error",
    exitCode: Number.isSafeInteger(about.exit) ? (about.exit as number) : undefined,
    durationMs: typeof start === "number" && typeof end === "number" ? asCount(end - start) : undefined,
    patch: asString(about.diff),
    session: asString(about.sessionId),
  });
  return [call, timed(result, end)];
}

/** The newer versions' `output` is without `reasoning`, which shows where they tell the sum. */
export function readUsage(tokens: Fields): Usage {
  const cache = isFields(tokens.cache) ? tokens.cache : {};
  const [input = 0, output = 0, reasoning = 0, read = 0, write = 0] = [
    tokens.input,
    tokens.output,
    tokens.reasoning,
    cache.read,
    cache.write,
  ].map((value) => asCount(value) ?? 0);
  const isApart = asCount(tokens.total) === input + output + reasoning + read + write;
  return {
    inputTokens: input,
    outputTokens: isApart ? output + reasoning : output,
    cacheReadTokens: read,
    cacheWriteTokens: write,
    reasoningTokens: reasoning,
  };
}
