import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { toBlocks } from "../blocks.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { dataText, parseDataUrlType } from "../pictures.ts";
import { readColumnText, readJsonList } from "../sqlite.ts";
import { asString } from "../values.ts";

/** What stands before content that is no plain text. */
const jsonMark = "\0json:";
const summaryStart = /^\[CONTEXT (?:COMPACTION|SUMMARY)/;
const skillStart = /^\[(?:SYSTEM|IMPORTANT): The user has invoked the "([^"]+)" skill/;
const skillWords = "The user has provided the following instruction alongside the skill invocation: ";

/** The messages in one row. */
export function readMessages(row: Fields, sink: Sink): Message[] {
  const text = readContent(row, sink);
  switch (row.role) {
    case "user":
      return userMessages(text, row);
    case "assistant":
      return [...thoughtIn(row), ...answer(text, row), ...callsIn(row, sink)];
    case "tool":
      return [result(text, asString(row.tool_call_id))];
    case "system":
    case "session_meta":
      return [];
    default:
      sink.unhandled(`role.${asString(row.role) ?? "(none)"}`);
      return [];
  }
}

type Content = { text: string; images: Message[] };

function readContent(row: Fields, sink: Sink): Content {
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
  const content: Content = { text: "", images: [] };
  for (const part of Array.isArray(parts) ? toBlocks(parts) : [{ type: "text", text: JSON.stringify(parts) }]) {
    if (part.type === "text" || part.type === "input_text") {
      content.text = [content.text, asString(part.text)].filter(Boolean).join("\n");
    } else if (part.type === "image_url" || part.type === "input_image") content.images.push(image(part.image_url));
    else sink.unhandled(`part.${asString(part.type) ?? "(none)"}`);
  }
  return content;
}

function image(told: unknown): Message {
  const url = asString(isFields(told) ? told.url : told) ?? "";
  const type = parseDataUrlType(url);
  const attachment = type ? { type } : { type: "image", name: url.slice(0, 2048) };
  return withMetadata({ role: "user", content: dataText("image", type, type && url) }, { attachments: [attachment] });
}

/** What the user wrote; what the program wrote in the user's place is a notice. */
function userMessages({ text, images }: Content, { summary, display_kind: kind }: Fields): Message[] {
  const shown = asString(kind);
  if (summary === 1 || summaryStart.test(text) || (shown && shown !== "skill_invocation")) {
    return text.trim() ? [notice(text, "user")] : [];
  }
  const [, skill] = skillStart.exec(text) ?? [];
  if (skill === undefined) return [...(text.trim() ? [{ role: "user", content: text }] : []), ...images];
  const at = text.indexOf(skillWords);
  const words = at === -1 ? "" : text.slice(at + skillWords.length).trim();
  return [{ role: "user", content: `/${skill} ${words}`.trim() }, notice(text, "user"), ...images];
}

function answer({ text }: Content, { summary, display_kind: kind }: Fields): Message[] {
  if (!text.trim()) return [];
  const isPrograms = summary === 1 || summaryStart.test(text) || kind === "hidden";
  return [isPrograms ? notice(text, "assistant") : { role: "assistant", content: text }];
}

function thoughtIn({ reasoning, reasoning_content: told }: Fields): Message[] {
  const text = asString(reasoning)?.trim() || asString(told)?.trim();
  return text ? [thinking(text)] : [];
}

function callsIn(row: Fields, sink: Sink): Message[] {
  if (row.tool_calls === null && row.tool_callsSize === null) return [];
  const calls = readJsonList(row, "tool_calls", `calls of message ${row.id}`, sink)?.filter(isFields) ?? [];
  return calls.map((call) => {
    const told = isFields(call.function) ? call.function : call;
    return toolCall(asString(told.name) ?? "tool", asString(call.id) ?? asString(call.call_id), told.arguments);
  });
}

/** Tools tell what they printed, and how they ended, as JSON. */
function result({ text, images }: Content, callId: string | undefined): Message {
  const told = text.startsWith("{") ? parseJson(text) : undefined;
  const { output, exit_code: code, error, success } = isFields(told) ? told : ({} as Fields);
  const exitCode = Number.isSafeInteger(code) ? (code as number) : undefined;
  const shown = [asString(output) ?? text, ...images.map(({ content }) => content)].filter(Boolean).join("\n");
  const isError = asString(error) !== undefined || success === false;
  return toolResult(shown, { callId, isError, exitCode });
}
