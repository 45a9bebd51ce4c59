import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { toBlocks } from "../blocks.ts";
import { makeNotice, makeToolResult, toFunctionCall, toTexts, toThoughts } from "../messages.ts";
import { makePicture } from "../pictures.ts";
import { readColumnText, readJsonList } from "../sqlite.ts";
import { asFields, asString, joinTexts } from "../values.ts";

const jsonMark = "\0json:";
const summaryStart = /^\[CONTEXT (?:COMPACTION|SUMMARY)/;
const skillStart = /^\[(?:SYSTEM|IMPORTANT): The user has invoked the "([^"]+)" skill/;
const skillWords = "The user has provided the following instruction alongside the skill invocation: ";

export function readMessages(row: Fields, sink: Sink): Message[] {
  const text = readContent(row, sink);
  switch (row.role) {
    case "user":
      return readUserMessages(text, row);
    case "assistant":
      return [...readThought(row), ...readAnswer(text, row), ...readCalls(row, sink)];
    case "tool":
      return [readResult(text, asString(row.tool_call_id))];
    case "system":
    case "session_meta":
      return [];
    default:
      sink.unhandled(`role.${asString(row.role) ?? "(none)"}`);
      return [];
  }
}

type MessageContent = { text: string; images: Message[] };

function readContent(row: Fields, sink: Sink): MessageContent {
  const label = `message ${row.id}`;
  if (row.content === null && typeof row.contentSize === "number") {
    sink.lost(`${label} is too large`);
    return { text: "", images: [] };
  }
  const text = readColumnText(row.content) ?? "";
  if (!text.startsWith(jsonMark)) return { text, images: [] };
  const parts = parseJson(text.slice(jsonMark.length));
  if (parts === undefined) {
    sink.invalid(`${label} is not JSON`);
    return { text: "", images: [] };
  }
  const content: MessageContent = { text: "", images: [] };
  for (const part of Array.isArray(parts) ? toBlocks(parts) : [{ type: "text", text: JSON.stringify(parts) }]) {
    if (part.type === "text" || part.type === "input_text") {
      content.text = joinTexts([content.text, asString(part.text)]);
    } else if (part.type === "image_url" || part.type === "input_image")
      content.images.push(makePicture(isFields(part.image_url) ? part.image_url.url : part.image_url));
    else sink.unhandled(`part.${asString(part.type) ?? "(none)"}`);
  }
  return content;
}

function readUserMessages({ text, images }: MessageContent, { summary, display_kind: kind }: Fields): Message[] {
  const shown = asString(kind);
  if (summary === 1 || summaryStart.test(text) || (shown && shown !== "skill_invocation")) {
    return text.trim() ? [makeNotice(text, "user")] : [];
  }
  const [, skill] = skillStart.exec(text) ?? [];
  if (skill === undefined) return [...toTexts("user", text), ...images];
  const at = text.indexOf(skillWords);
  const words = at === -1 ? "" : text.slice(at + skillWords.length).trim();
  return [{ role: "user", content: `/${skill} ${words}`.trim() }, makeNotice(text, "user"), ...images];
}

function readAnswer({ text }: MessageContent, { summary, display_kind: kind }: Fields): Message[] {
  if (!text.trim()) return [];
  const isPrograms = summary === 1 || summaryStart.test(text) || kind === "hidden";
  return [isPrograms ? makeNotice(text, "assistant") : { role: "assistant", content: text }];
}

function readThought({ reasoning, reasoning_content: content }: Fields): Message[] {
  return toThoughts(asString(reasoning)?.trim() || asString(content)?.trim());
}

function readCalls(row: Fields, sink: Sink): Message[] {
  if (row.tool_calls === null && row.tool_callsSize === null) return [];
  const calls = readJsonList(row, "tool_calls", `calls of message ${row.id}`, sink)?.filter(isFields) ?? [];
  return calls.map(toFunctionCall);
}

/** Tools return what they printed, and how they ended, as JSON. */
function readResult({ text, images }: MessageContent, callId: string | undefined): Message {
  const parsed = text.startsWith("{") ? parseJson(text) : undefined;
  const { output, exit_code: code, error, success } = asFields(parsed);
  const shown = joinTexts([asString(output) ?? text, ...images.map(({ content }) => content)]);
  const isError = asString(error) !== undefined || success === false;
  return makeToolResult(shown, { callId, isError, exitCode: code });
}
