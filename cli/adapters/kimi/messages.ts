import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { assistantMessages, joinBlockTexts, toBlocks, userMessages } from "../blocks.ts";
import { notice, toolCall, toolResult, withMetadata } from "../messages.ts";
import { parseDataUrlType, urlText } from "../pictures.ts";
import { asString } from "../values.ts";

type Unhandled = (type: string) => void;

/**
 * Who wrote a user's message: the person, also as a command of the shell, or whoever started a sub-agent; the program wrote every
 * other.
 */
function isWritten(origin: unknown): boolean {
  if (!isFields(origin)) return true;
  if (origin.kind === "system_trigger") return origin.name === "subagent";
  return origin.kind === "user" || origin.kind === "shell_command";
}

/** The messages in a message of the context. Those of sessions that came from Kimi CLI have their calls and results whole. */
export function appendedMessages(message: Fields, unhandled: Unhandled): Message[] {
  const { role, content, origin, toolCalls, toolCallId } = message;
  switch (role) {
    case "assistant":
      return [...assistantMessages(withoutMedia(content), unhandled), ...listCalls(toolCalls).map(makeCall)];
    case "tool":
      return [makeResult(content, { callId: asString(toolCallId), isError: message.isError === true }, unhandled)];
    case "user":
      return isWritten(origin) ? written(content, unhandled) : injected(content, origin, unhandled);
    case "system":
      return makeNotices(content, "system", unhandled);
    default:
      unhandled(`role.${asString(role) ?? "(none)"}`);
      return [];
  }
}

/** A result of a tool. */
export const makeResult = (
  content: unknown,
  outcome: Parameters<typeof toolResult>[1],
  unhandled: Unhandled,
): Message => toolResult(joinBlockTexts(withoutMedia(content), unhandled), outcome);

/** A summary of what was said before, which is a text or a message. */
export function compactionMessages({ summary, contextSummary }: Fields, unhandled: Unhandled): Message[] {
  const text = asString(summary) ?? asString(contextSummary);
  if (text) return [notice(text)];
  return isFields(summary) ? makeNotices(summary.content, "system", unhandled) : [];
}

const listCalls = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** A call; the first version of the format, and sessions from Kimi CLI, have its name and arguments in `function`. */
function makeCall({ id, function: called, ...call }: Fields): Message {
  const { name, arguments: input } = isFields(called) ? called : call;
  return toolCall(asString(name) ?? "tool", asString(id), input);
}

/** What the program put in the user's place: a skill's text below the command that the user gave for it, or a notice. */
function injected(content: unknown, origin: unknown, unhandled: Unhandled): Message[] {
  const command = isFields(origin) && origin.trigger === "user-slash" ? formatCommand(origin) : undefined;
  const notices = makeNotices(content, "user", unhandled);
  return command ? [{ role: "user", content: command, metadata: { kind: "command" } }, ...notices] : notices;
}

function formatCommand({ skillName, skillArgs, commandName, commandArgs }: Fields): string | undefined {
  const name = asString(skillName) ?? asString(commandName);
  const words = asString(skillArgs) ?? asString(commandArgs);
  return name && [`/${name}`, words].filter(Boolean).join(" ");
}

function makeNotices(content: unknown, role: string, unhandled: Unhandled): Message[] {
  const text = joinBlockTexts(withoutMedia(content), unhandled);
  return text.trim() === "" ? [] : [notice(text, role)];
}

/** What the program puts before the task of a sub-agent. */
const gitContext = /^\s*<git-context>[\s\S]*?<\/git-context>\s*/;

function written(content: unknown, unhandled: Unhandled): Message[] {
  return toBlocks(content).flatMap((block) => {
    const file = fileIn(block);
    if (file) return [withMetadata({ role: "user", content: file.text }, { attachments: [file.attachment] })];
    const text = joinBlockTexts([block], unhandled);
    const [context = ""] = gitContext.exec(text) ?? [];
    const own = userMessages(text.slice(context.length));
    return context ? [notice(context.trim(), "user"), ...own] : own;
  });
}

/** Content with a placeholder for each file. */
const withoutMedia = (content: unknown): Fields[] =>
  toBlocks(content).map((block) => {
    const file = fileIn(block);
    return file ? { type: "text", text: file.text } : block;
  });

/** A file in a content, by its type, or by its address: `{type: "image_url", imageUrl: {url}}`. */
function fileIn(block: Fields): { text: string; attachment: Fields } | undefined {
  const [, kind] = /^(image|audio|video)_url$/.exec(String(block.type)) ?? [];
  if (kind === undefined) return undefined;
  const file = block[`${kind}Url`];
  const url = (isFields(file) ? asString(file.url) : undefined) ?? "";
  const type = parseDataUrlType(url);
  return { text: urlText(kind, url), attachment: type ? { type } : { type: kind, name: url.slice(0, 2048) } };
}
