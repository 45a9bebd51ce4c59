import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult } from "../messages.ts";
import { asCount, asString } from "../values.ts";
import { errorMessages, fileMessage, withTime } from "./parts.ts";

/** Messages that say which agent answers from now on. */
const skippedTypes = new Set(["agent-switched", "model-switched"]);

/** The messages in a row of newer versions, which has all of a message; none where it has no text. */
export function newerMessages(message: Fields, unhandled: (type: string) => void): Message[] {
  const type = asString(message.type) ?? "(none)";
  switch (type) {
    case "user":
      return [...readFiles(message.files), ...toTexts(message.text).map((content) => ({ role: "user", content }))];
    case "assistant":
      return [
        ...listFields(message.content).flatMap((content) => contentMessages(content, unhandled)),
        ...errorMessages(message),
      ];
    case "shell":
      return shellMessages(message);
    case "synthetic":
    case "system":
      return toTexts(message.text).map((text) => notice(text, type === "system" ? "system" : "user"));
    case "compaction":
      return [notice(asString(message.summary) ?? "The conversation so far was compacted.")];
    default:
      if (!skippedTypes.has(type)) unhandled(`message.${type}`);
      return [];
  }
}

const listFields = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

const toTexts = (text: unknown): string[] => (typeof text === "string" && text.trim() !== "" ? [text] : []);

const readFiles = (files: unknown): Message[] => listFields(files).map((file) => fileMessage(file, "user"));

function contentMessages(content: Fields, unhandled: (type: string) => void): Message[] {
  switch (content.type) {
    case "text":
      return toTexts(content.text).map((text) =>
        content.synthetic === true || content.ignored === true
          ? notice(text, "assistant")
          : { role: "assistant", content: text },
      );
    case "reasoning":
      return toTexts(content.text).map(thinking);
    case "tool":
      return toolMessages(content, unhandled);
    default:
      unhandled(`content.${asString(content.type) ?? "(none)"}`);
      return [];
  }
}

function toolMessages({ id, name, state, time }: Fields, unhandled: (type: string) => void): Message[] {
  const callId = asString(id);
  const { status, input, content, structured, error } = isFields(state) ? state : ({} as Fields);
  const { created, ran, completed } = isFields(time) ? time : ({} as Fields);
  const call = withTime(toolCall(asString(name) ?? "tool", callId, input), created);
  if (status !== "completed" && status !== "error") return [call];
  const about = isFields(structured) ? structured : {};
  const failure = isFields(error) ? asString(error.message) : asString(error);
  const output = listFields(content)
    .map((part) => readOutput(part, unhandled))
    .filter(Boolean)
    .join("\n");
  const result = toolResult(output || (failure ?? ""), {
    callId,
    isError: status === "error",
    exitCode: Number.isSafeInteger(about.exit) ? (about.exit as number) : undefined,
    durationMs: typeof ran === "number" && typeof completed === "number" ? asCount(completed - ran) : undefined,
    patch: asString(about.diff),
    session: asString(about.sessionID) ?? asString(about.sessionId),
  });
  return [call, withTime(result, completed)];
}

function readOutput(part: Fields, unhandled: (type: string) => void): string {
  if (part.type === "text") return asString(part.text) ?? "";
  if (part.type === "file") return fileMessage(part, "tool").content;
  unhandled(`output.${asString(part.type) ?? "(none)"}`);
  return "";
}

/** A command that the user ran. */
function shellMessages({ callID, command, output, time }: Fields): Message[] {
  const callId = asString(callID);
  const call = { ...toolCall("bash", callId, { command: asString(command) ?? "" }), role: "user" };
  const { completed } = isFields(time) ? time : ({} as Fields);
  const result = withTime(toolResult(asString(output) ?? "", { callId }), completed);
  return completed === undefined ? [call] : [call, result];
}
