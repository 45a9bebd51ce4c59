import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { joinBlockTexts, readAssistantBlocks, splitUserText, toBlocks } from "../blocks.ts";
import {
  makeNotice,
  makeToolResult,
  type ToolOutcome,
  toFunctionCall,
  toNotices,
  withAttachments,
} from "../messages.ts";
import { describeUrl, formatUrl } from "../pictures.ts";
import { asFields, asString, joinTexts, listFields } from "../values.ts";

/** The program writes everything else in the user's place. */
function isWritten(origin: unknown): boolean {
  if (!isFields(origin)) return true;
  if (origin.kind === "system_trigger") return origin.name === "subagent";
  return origin.kind === "user" || origin.kind === "shell_command";
}

export function readAppended(message: Fields, unhandled: Unhandled): Message[] {
  const { role, content, origin, toolCalls, toolCallId } = message;
  switch (role) {
    case "assistant":
      return [...readAssistantBlocks(replaceMedia(content), unhandled), ...listFields(toolCalls).map(toFunctionCall)];
    case "tool":
      return [makeResult(content, { callId: toolCallId, isError: message.isError === true }, unhandled)];
    case "user":
      return isWritten(origin) ? readWritten(content, unhandled) : readInjected(content, origin, unhandled);
    case "system":
      return makeNotices(content, "system", unhandled);
    default:
      unhandled(`role.${asString(role) ?? "(none)"}`);
      return [];
  }
}

export const makeResult = (content: unknown, outcome: ToolOutcome, unhandled: Unhandled): Message =>
  makeToolResult(joinBlockTexts(replaceMedia(content), unhandled), outcome);

export function readCompaction({ summary, contextSummary }: Fields, unhandled: Unhandled): Message[] {
  const text = asString(summary) ?? asString(contextSummary);
  if (text) return [makeNotice(text)];
  return isFields(summary) ? makeNotices(summary.content, "system", unhandled) : [];
}

/** A skill's text follows the user's command for it. */
function readInjected(content: unknown, origin: unknown, unhandled: Unhandled): Message[] {
  const command = isFields(origin) && origin.trigger === "user-slash" ? formatCommand(origin) : undefined;
  const notices = makeNotices(content, "user", unhandled);
  return command ? [{ role: "user", content: command, metadata: { kind: "command" } }, ...notices] : notices;
}

function formatCommand({ skillName, skillArgs, commandName, commandArgs }: Fields): string | undefined {
  const name = asString(skillName) ?? asString(commandName);
  const words = asString(skillArgs) ?? asString(commandArgs);
  return name && joinTexts([`/${name}`, words], " ");
}

function makeNotices(content: unknown, role: string, unhandled: Unhandled): Message[] {
  const text = joinBlockTexts(replaceMedia(content), unhandled);
  return text.trim() === "" ? [] : [makeNotice(text, role)];
}

const gitContext = /^\s*<git-context>[\s\S]*?<\/git-context>\s*/;

function readWritten(content: unknown, unhandled: Unhandled): Message[] {
  return toBlocks(content).flatMap((block) => {
    const file = readFile(block);
    if (file) return [withAttachments({ role: "user", content: file.text }, [file.attachment])];
    const text = joinBlockTexts([block], unhandled);
    const [context = ""] = gitContext.exec(text) ?? [];
    const own = splitUserText(text.slice(context.length));
    return [...toNotices(context.trim(), "user"), ...own];
  });
}

const replaceMedia = (content: unknown): Fields[] =>
  toBlocks(content).map((block) => {
    const file = readFile(block);
    return file ? { type: "text", text: file.text } : block;
  });

function readFile(block: Fields): { text: string; attachment: Fields } | undefined {
  const [, kind] = /^(image|audio|video)_url$/.exec(String(block.type)) ?? [];
  if (kind === undefined) return undefined;
  const file = block[`${kind}Url`];
  const url = asString(asFields(file).url) ?? "";
  return { text: formatUrl(kind, url), attachment: describeUrl(kind, url) };
}
