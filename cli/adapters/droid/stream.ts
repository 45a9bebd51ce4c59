import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { userMessages } from "../blocks.ts";
import { notice, thinking, toolCall, toolResult } from "../messages.ts";
import { asCount, asString } from "../values.ts";

/** The types of lines that `droid exec --output-format stream-json` prints, and no session's file has. */
const types = new Set(["tool_call", "tool_result", "completion", "error", "reasoning"]);

/** Whether a line is one of them: a message, too, whose words stand beside its role. */
export const isStreamed = ({ type, text }: Fields): boolean =>
  types.has(asString(type) ?? "") || (type === "message" && typeof text === "string");

/**
 * The messages in such a line.
 *
 * @param lastWords what the assistant said last: a completion repeats it
 */
export function streamedMessages(record: Fields, lastWords: string | undefined): Message[] {
  const text = asString(record.text) ?? "";
  const callId = asString(record.toolCallId) ?? asString(record.id);
  switch (record.type) {
    case "tool_call":
      return [toolCall(asString(record.toolName) ?? asString(record.toolId) ?? "tool", callId, record.parameters)];
    case "tool_result":
      return [makeResult(record, callId)];
    case "completion": {
      const words = asString(record.finalText);
      return words && words.trim() !== lastWords?.trim() ? [{ role: "assistant", content: words }] : [];
    }
    case "error":
      return asString(record.message) ? [notice(`Error: ${record.message}`)] : [];
    case "reasoning":
      return text ? [thinking(text)] : [];
    default:
      if (text === "") return [];
      return record.role === "user" ? userMessages(text) : [{ role: "assistant", content: text }];
  }
}

/** What a tool gave back is a text, or what a command printed and its exit code. */
function makeResult({ value, error, isError }: Fields, callId: string | undefined): Message {
  const { stdout, stderr, exitCode } = isFields(value) ? value : ({} as Fields);
  const printed = [stdout, stderr].map(asString).filter(Boolean).join("\n");
  const text = asString(value) ?? (printed || (isFields(value) && exitCode === undefined ? JSON.stringify(value) : ""));
  const told = isFields(error) ? asString(error.message) : asString(error);
  return toolResult(text || (told ?? ""), {
    callId,
    isError: isError === true || told !== undefined,
    exitCode: asCount(exitCode),
  });
}
