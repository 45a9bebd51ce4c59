import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";
import { userText } from "./text.ts";

/** The messages in one bubble of a conversation; none where it has no content. */
export function bubbleMessages(bubble: Fields, unhandled: (type: string) => void): Message[] {
  if (bubble.type === 1) return userMessages(bubble);
  if (bubble.type !== 2) {
    unhandled(`bubble.${String(bubble.type ?? "(none)").slice(0, 64)}`);
    return [];
  }
  const text = asString(bubble.text) ?? "";
  const said =
    text.trim() === "" ? [] : [bubble.isThought === true ? thinking(text) : { role: "assistant", content: text }];
  return [...thoughtMessages(bubble), ...said, ...toolMessages(bubble), ...errorMessages(bubble)];
}

function userMessages(bubble: Fields): Message[] {
  const messages = userText(asString(bubble.text) ?? parseRichText(bubble.richText));
  const attachments = listAttachments(bubble);
  const last = messages.pop();
  if (last) return [...messages, withMetadata(last, { attachments })];
  return attachments ? [{ role: "user", content: "[attachments]", metadata: { attachments } }] : [];
}

/** The text in an editor's state (Lexical), where nothing else holds it. */
function parseRichText(value: unknown): string {
  const text = asString(value) ?? "";
  const state = /^\s*\{/.test(text) ? parseJson(text) : undefined;
  return isFields(state) ? readNodeText(state.root) : text;
}

function readNodeText(node: unknown, depth = 0): string {
  if (!isFields(node) || depth > 32) return "";
  if (node.type === "linebreak") return "\n";
  const children = Array.isArray(node.children) ? node.children : [];
  const separator = children.some((child) => isFields(child) && child.type === "paragraph") ? "\n" : "";
  return (asString(node.text) ?? "") + children.map((child) => readNodeText(child, depth + 1)).join(separator);
}

function listAttachments({ context, images }: Fields): Fields[] | undefined {
  const about = isFields(context) ? context : {};
  const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const files = [...listed(about.fileSelections), ...listed(about.folderSelections)].filter(isFields);
  const names = files.map(({ uri, relativePath }) => {
    const path = isFields(uri) ? (asString(uri.fsPath) ?? asString(uri.path)) : asString(uri);
    return path ?? asString(relativePath);
  });
  const pictures = [...listed(images), ...listed(about.selectedImages)].map((image) => ({
    type: "image",
    ...(isFields(image) && asString(image.path) && { name: asString(image.path) }),
  }));
  const all = [...new Set(names)].flatMap((name): Fields[] => (name ? [{ type: "file", name }] : [])).concat(pictures);
  return all.length > 0 ? all : undefined;
}

function thoughtMessages(bubble: Fields): Message[] {
  const text = isFields(bubble.thinking) ? asString(bubble.thinking.text) : asString(bubble.thinking);
  if (!text?.trim()) return [];
  return [withMetadata(thinking(text), { durationMs: asCount(bubble.thinkingDurationMs) })];
}

function errorMessages({ errorDetails }: Fields): Message[] {
  const text = isFields(errorDetails) ? asString(errorDetails.message) : undefined;
  return text ? [notice(text)] : [];
}

/** A tool's state. One without a name is what is left of a call that never was made. */
function toolMessages({ toolFormerData: tool }: Fields): Message[] {
  if (!isFields(tool)) return [];
  const name = asString(tool.name);
  if (!name) return [];
  const callId = asString(tool.toolCallId);
  const call = toolCall(name, callId, readInput(tool));
  const isOver = tool.status === "completed" || tool.status === "error" || tool.status === "cancelled";
  if (!isOver && !asString(tool.result)) return [call];
  return [call, resultMessage(tool, callId)];
}

/** The input as the model wrote it; where that is cut off, as the program understood it. */
function readInput({ rawArgs, params }: Fields): unknown {
  for (const input of [rawArgs, params]) {
    const fields = typeof input === "string" ? parseJson(input) : input;
    if (isFields(fields) && Object.keys(fields).length > 0) return fields;
  }
  return asString(rawArgs) ?? asString(params);
}

function resultMessage(tool: Fields, callId: string | undefined): Message {
  const result = typeof tool.result === "string" ? (parseJson(tool.result) ?? tool.result) : tool.result;
  const about = isFields(result) ? result : {};
  const isDeclined = tool.userDecision === "rejected" || about.rejected === true;
  const isError = tool.status === "error";
  const patch = formatPatch(about.diff);
  const output = isDeclined ? "User rejected the call." : isError ? errorText(tool) : outputText(result, tool.result);
  const more = isFields(tool.additionalData) ? tool.additionalData : {};
  return toolResult(output || (tool.status === "cancelled" ? "Cancelled." : ""), {
    callId,
    isError: isError || tool.status === "cancelled" || about.applyFailed === true,
    patch,
    exitCode: [about.exitCodeV2, about.exitCode].find((code): code is number => Number.isSafeInteger(code)),
    session: asString(more.subagentComposerId) ?? asString(about.agentId),
  });
}

/** The one text in a result, such as a command's output; else all of it as it is. */
function outputText(result: unknown, raw: unknown): string {
  if (isFields(result)) {
    for (const name of ["output", "contents", "content", "result", "message"]) {
      const text = result[name];
      if (typeof text === "string" && text !== "") return text;
    }
    if (result.output === "" || formatPatch(result.diff)) return "";
  }
  return asString(raw) ?? (result === undefined || result === null ? "" : JSON.stringify(result));
}

/** A unified diff from the chunks of an edit. */
function formatPatch(diff: unknown): string | undefined {
  const chunks = isFields(diff) && Array.isArray(diff.chunks) ? diff.chunks.filter(isFields) : [];
  const parts = chunks.flatMap((chunk) => {
    const text = asString(chunk.diffString);
    const [from, lines, to, toLines] = [chunk.oldStart, chunk.oldLines, chunk.newStart, chunk.newLines].map(asCount);
    return text ? [`@@ -${from ?? 0},${lines ?? 0} +${to ?? 0},${toLines ?? 0} @@\n${text}`] : [];
  });
  return parts.length > 0 ? parts.join("\n") : undefined;
}

function errorText({ error, result }: Fields): string {
  const value = typeof error === "string" ? (parseJson(error) ?? error) : error;
  const fields = isFields(value) ? value : {};
  const told = asString(fields.modelVisibleErrorMessage) ?? asString(fields.clientVisibleErrorMessage);
  return told ?? asString(value) ?? asString(fields.error) ?? asString(fields.message) ?? asString(result) ?? "Error";
}

/** The earliest time that is one since 1970, and not since the request began. */
const minEpochMs = 946_684_800_000;

/** When a bubble came: newer versions say it, older ones when its request was sent. */
export function findTime({ createdAt, timestamp, timingInfo }: Fields): unknown {
  if (createdAt || timestamp) return createdAt || timestamp;
  const timing = isFields(timingInfo) ? timingInfo : {};
  return [timing.clientRpcSendTime, timing.clientStartTime, timing.clientSettleTime, timing.clientEndTime].find(
    (value) => typeof value === "number" && value > minEpochMs,
  );
}

/** Few bubbles have their tokens. */
export function readUsage({ tokenCount }: Fields): Usage | undefined {
  if (!isFields(tokenCount)) return undefined;
  const usage = {
    inputTokens: asCount(tokenCount.inputTokens) ?? 0,
    outputTokens: asCount(tokenCount.outputTokens) ?? 0,
  };
  return usage.inputTokens + usage.outputTokens > 0 ? usage : undefined;
}
