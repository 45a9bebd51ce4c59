import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { splitUserText } from "../blocks.ts";
import { makeNotice, makeToolCall, makeToolResult, toTexts, toThoughts } from "../messages.ts";
import { asCount, asFields, asString, joinTexts } from "../values.ts";

const types = new Set(["tool_call", "tool_result", "completion", "error", "reasoning"]);

export const isStreamed = ({ type, text }: Fields): boolean =>
  types.has(asString(type) ?? "") || (type === "message" && typeof text === "string");

export function readStreamed(record: Fields, lastWords: string | undefined): Message[] {
  const text = asString(record.text) ?? "";
  const callId = asString(record.toolCallId) ?? asString(record.id);
  switch (record.type) {
    case "tool_call":
      return [makeToolCall(record.toolName ?? record.toolId, callId, record.parameters)];
    case "tool_result":
      return [makeResult(record, callId)];
    case "completion": {
      const words = asString(record.finalText);
      return words?.trim() === lastWords?.trim() ? [] : toTexts("assistant", words);
    }
    case "error":
      return asString(record.message) ? [makeNotice(`Error: ${record.message}`)] : [];
    case "reasoning":
      return toThoughts(text);
    default:
      if (text === "") return [];
      return record.role === "user" ? splitUserText(text) : [{ role: "assistant", content: text }];
  }
}

function makeResult({ value, error, isError }: Fields, callId: string | undefined): Message {
  const { stdout, stderr, exitCode } = asFields(value);
  const printed = joinTexts([stdout, stderr]);
  const text = asString(value) ?? (printed || (isFields(value) && exitCode === undefined ? JSON.stringify(value) : ""));
  const reason = isFields(error) ? asString(error.message) : asString(error);
  return makeToolResult(text || (reason ?? ""), {
    callId,
    isError: isError === true || reason !== undefined,
    exitCode: asCount(exitCode),
  });
}
