import type { Fields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeNotice, makeToolCall, makeToolResult, toNotices, toTexts, toThoughts, withTime } from "../messages.ts";
import { asCount, asFields, asString, joinTexts, listFields } from "../values.ts";
import { makeFileMessage, readErrors } from "./part-messages.ts";

const skippedTypes = new Set(["agent-switched", "model-switched"]);

export function readNewerMessage(message: Fields, unhandled: Unhandled): Message[] {
  const type = asString(message.type) ?? "(none)";
  switch (type) {
    case "user":
      return [
        ...listFields(message.files).map((file) => makeFileMessage(file, "user")),
        ...toTexts("user", message.text),
      ];
    case "assistant":
      return [
        ...listFields(message.content).flatMap((content) => readContent(content, unhandled)),
        ...readErrors(message),
      ];
    case "shell":
      return readShell(message);
    case "synthetic":
    case "system":
      return isBlank(message.text) ? [] : toNotices(message.text, type === "system" ? "system" : "user");
    case "compaction":
      return [makeNotice(asString(message.summary) ?? "The conversation so far was compacted.")];
    default:
      if (!skippedTypes.has(type)) unhandled(`message.${type}`);
      return [];
  }
}

const isBlank = (text: unknown): boolean => (asString(text) ?? "").trim() === "";

function readContent(content: Fields, unhandled: Unhandled): Message[] {
  switch (content.type) {
    case "text":
      if (isBlank(content.text)) return [];
      return content.synthetic === true || content.ignored === true
        ? toNotices(content.text, "assistant")
        : toTexts("assistant", content.text);
    case "reasoning":
      return toThoughts(content.text);
    case "tool":
      return readTool(content, unhandled);
    default:
      unhandled(`content.${asString(content.type) ?? "(none)"}`);
      return [];
  }
}

function readTool({ id, name, state, time }: Fields, unhandled: Unhandled): Message[] {
  const callId = asString(id);
  const { status, input, content, structured, error } = asFields(state);
  const { created, ran, completed } = asFields(time);
  const call = withTime(makeToolCall(name, callId, input), created);
  if (status !== "completed" && status !== "error") return [call];
  const about = asFields(structured);
  const failure = asString(asFields(error).message) ?? asString(error);
  const output = joinTexts(listFields(content).map((part) => readOutput(part, unhandled)));
  const result = makeToolResult(output || (failure ?? ""), {
    callId,
    isError: status === "error",
    exitCode: about.exit,
    durationMs: typeof ran === "number" && typeof completed === "number" ? asCount(completed - ran) : undefined,
    patch: about.diff,
    session: about.sessionID ?? about.sessionId,
  });
  return [call, withTime(result, completed)];
}

function readOutput(part: Fields, unhandled: Unhandled): string {
  if (part.type === "text") return asString(part.text) ?? "";
  if (part.type === "file") return makeFileMessage(part, "tool").content;
  unhandled(`output.${asString(part.type) ?? "(none)"}`);
  return "";
}

function readShell({ callID, command, output, time }: Fields): Message[] {
  const callId = asString(callID);
  const call = { ...makeToolCall("bash", callId, { command: asString(command) ?? "" }), role: "user" };
  const { completed } = asFields(time);
  const result = withTime(makeToolResult(asString(output) ?? "", { callId }), completed);
  return completed === undefined ? [call] : [call, result];
}
