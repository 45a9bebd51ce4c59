import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { toBlocks } from "../blocks.ts";
import { formatFilePatch, makeNotice, makeThought, makeToolCall, makeToolResult, withMetadata } from "../messages.ts";
import { asCount, asFields, asString } from "../values.ts";
import { makeFileMessage } from "./attachments.ts";
import { callTypes, isFailure, readPart, resultTypes, silentTypes } from "./block-types.ts";
import { readSystemLine } from "./notices.ts";
import type { SavedOutputs } from "./saved-outputs.ts";

export type Dialect = {
  source: string;
  readOutput?(content: Fields): { output: string; patch?: string } | undefined;
};

export type LineContext = {
  dialect: Dialect;
  outputs: SavedOutputs;
  unhandled(type: string): void;
};

export function readMessages(record: Fields, context: LineContext): Message[] | undefined {
  if (record.type === "system") return readSystemLine(record, context.unhandled);
  const { message } = record;
  if (!isFields(message)) return undefined;
  const { content } = message;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(blocks)) return undefined;
  // Nearly all lines have one block.
  if (blocks.length === 1 && isFields(blocks[0])) return readBlock(blocks[0], record, context);
  const messages: Message[] = [];
  for (const block of blocks) {
    if (isFields(block)) messages.push(...readBlock(block, record, context));
    else context.unhandled(`content.(${block === null ? "null" : typeof block})`);
  }
  return messages;
}

function readBlock(block: Fields, record: Fields, context: LineContext): Message[] {
  const type = asString(block.type) ?? "(none)";
  if (type === "text") return readText(asString(block.text), record);
  if (callTypes.has(type)) return [makeToolCall(block.name, block.id, block.input)];
  if (resultTypes.has(type)) return [readResult(block, record, context)];
  if (silentTypes.has(type)) return [];
  switch (type) {
    case "thinking": {
      const text = asString(block.thinking);
      return text ? [makeThought(text)] : [];
    }
    case "image":
    case "document":
      return [makeFileMessage(block)];
    case "search_result":
      return [makeNotice(readPart(block, context.unhandled), "user")];
    case "container_upload":
      return [makeNotice(`[file: ${asString(block.file_id) ?? "unknown"}]`, "user")];
    case "compaction": {
      const summary = asString(block.content);
      return summary ? [withMetadata(makeNotice(summary), { subtype: "compaction" })] : [];
    }
    default:
      context.unhandled(`content.${type}`);
      return [];
  }
}

function readText(text: string | undefined, record: Fields): Message[] {
  if (text === undefined || isPlaceholder(text, record)) return [];
  if (record.type === "assistant") return [record.isApiErrorMessage === true ? makeNotice(text) : toAnswer(text)];
  return [isInjected(record) || isProgramsText(text) ? makeNotice(text, "user") : { role: "user", content: text }];
}

/** This text replaces an answer if no request was sent. */
const isPlaceholder = (text: string, { message }: Fields): boolean =>
  text === "No response requested." && isFields(message) && message.model === "<synthetic>";

const programTags = [
  "system-reminder",
  "ide_opened_file",
  "ide_selection",
  "local-command-caveat",
  "task-notification",
];

/** The program adds such texts to the user's words, or asks a helper agent. */
function isProgramsText(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.startsWith("[SUGGESTION MODE: ")) return true;
  if (!trimmed.startsWith("<")) return false;
  const tag = programTags.find((name) => trimmed.startsWith(`<${name}>`));
  return tag !== undefined && trimmed.indexOf(`</${tag}>`) === trimmed.length - tag.length - 3;
}

function isInjected({ isMeta, isCompactSummary, origin }: Fields): boolean {
  const from = asString(asFields(origin).kind);
  return isMeta === true || isCompactSummary === true || (from !== undefined && from !== "human");
}

const toAnswer = (text: string): Message => ({ role: "assistant", content: text });

function readResult(block: Fields, record: Fields, { dialect, outputs, unhandled }: LineContext): Message {
  const details = asFields(record.toolUseResult);
  const agentId = asString(details.agentId);
  const sessionId = asString(record.sessionId);
  const { content } = block;
  const parsed = isFields(content) ? dialect.readOutput?.(content) : undefined;
  return makeToolResult(outputs.readWhole(parsed?.output ?? readOutputText(content, unhandled)), {
    callId: block.tool_use_id,
    isError: block.is_error === true || details.status === "error" || (isFields(content) && isFailure(content)),
    exitCode: isFields(content) ? asCount(content.return_code) : undefined,
    durationMs: asCount(details.totalDurationMs) ?? asCount(details.durationMs),
    patch: formatHunks(details.structuredPatch) ?? readCommandPatch(details.bashEditDiff) ?? parsed?.patch,
    session: agentId && sessionId ? `${sessionId}/agent-${agentId}` : undefined,
  });
}

function readOutputText(content: unknown, unhandled: Unhandled): string {
  if (typeof content === "string") return content;
  if (isFields(content)) return readPart(content, unhandled);
  return toBlocks(content)
    .map((block) => readPart(block, unhandled))
    .filter(Boolean)
    .join("\n");
}

function readCommandPatch(diff: unknown): string | undefined {
  if (!isFields(diff)) return undefined;
  const patches = toBlocks(diff.files).flatMap(({ filePath, hunks, created, deleted }) => {
    const [path, patch] = [asString(filePath), formatHunks(hunks)];
    if (!path || !patch) return [];
    return [formatFilePatch(created === true ? undefined : path, deleted === true ? undefined : path, patch)];
  });
  return patches.join("\n") || undefined;
}

function formatHunks(hunks: unknown): string | undefined {
  if (!Array.isArray(hunks) || hunks.length === 0) return undefined;
  const texts = hunks.filter(isFields).map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    const body = Array.isArray(lines) ? lines.filter((line) => typeof line === "string").join("\n") : "";
    const [from, to] = [`${Number(oldStart)},${Number(oldLines)}`, `${Number(newStart)},${Number(newLines)}`];
    return `@@ -${from} +${to} @@\n${body}`;
  });
  return texts.join("\n");
}
