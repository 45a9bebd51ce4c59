import { type Fields, isFields, parseJson, toList } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import {
  makeToolCall,
  makeToolResult,
  toNotices,
  toTexts,
  toThoughts,
  withAttachments,
  withMetadata,
} from "../messages.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asCount, asFields, asString, listFields } from "../values.ts";
import { readUserText } from "./text.ts";

export function readBubble(bubble: Fields, unhandled: Unhandled): Message[] {
  if (bubble.type === 1) return readUserMessages(bubble);
  if (bubble.type !== 2) {
    unhandled(`bubble.${String(bubble.type ?? "(none)").slice(0, 64)}`);
    return [];
  }
  const said = bubble.isThought === true ? toThoughts(bubble.text) : toTexts("assistant", bubble.text);
  return [...readThoughts(bubble), ...said, ...readTool(bubble), ...readErrors(bubble)];
}

function readUserMessages(bubble: Fields): Message[] {
  const messages = readUserText(asString(bubble.text) ?? parseRichText(bubble.richText));
  const attachments = listAttachments(bubble);
  const last = messages.pop();
  if (last) return [...messages, withAttachments(last, attachments)];
  return attachments.length > 0 ? [withAttachments({ role: "user", content: "[attachments]" }, attachments)] : [];
}

function parseRichText(value: unknown): string {
  const text = asString(value) ?? "";
  const state = /^\s*\{/.test(text) ? parseJson(text) : undefined;
  return isFields(state) ? readNodeText(state.root) : text;
}

function readNodeText(node: unknown, depth = 0): string {
  if (!isFields(node) || depth > 32) return "";
  if (node.type === "linebreak") return "\n";
  const children = toList(node.children);
  const separator = children.some((child) => isFields(child) && child.type === "paragraph") ? "\n" : "";
  return (asString(node.text) ?? "") + children.map((child) => readNodeText(child, depth + 1)).join(separator);
}

function listAttachments({ context, images }: Fields): Fields[] {
  const about = asFields(context);
  const files = [...listFields(about.fileSelections), ...listFields(about.folderSelections)];
  const names = files.map(({ uri, relativePath }) => {
    const path = isFields(uri) ? (asString(uri.fsPath) ?? asString(uri.path)) : asString(uri);
    return path ?? asString(relativePath);
  });
  const pictures = [...toList(images), ...toList(about.selectedImages)].map((image) => ({
    type: "image",
    ...(isFields(image) && asString(image.path) && { name: asString(image.path) }),
  }));
  return [...new Set(names)].flatMap((name): Fields[] => (name ? [{ type: "file", name }] : [])).concat(pictures);
}

function readThoughts(bubble: Fields): Message[] {
  const text = isFields(bubble.thinking) ? asString(bubble.thinking.text) : asString(bubble.thinking);
  return toThoughts(text).map((thought) => withMetadata(thought, { durationMs: asCount(bubble.thinkingDurationMs) }));
}

const readErrors = ({ errorDetails }: Fields): Message[] => toNotices(asFields(errorDetails).message);

/** A call that was never made leaves a state without a name. */
function readTool({ toolFormerData: tool }: Fields): Message[] {
  if (!isFields(tool)) return [];
  const name = asString(tool.name);
  if (!name) return [];
  const callId = asString(tool.toolCallId);
  const call = makeToolCall(name, callId, readInput(tool));
  const isOver = tool.status === "completed" || tool.status === "error" || tool.status === "cancelled";
  if (!isOver && !asString(tool.result)) return [call];
  return [call, readResult(tool, callId)];
}

/** The model's input may be cut off. */
function readInput({ rawArgs, params }: Fields): unknown {
  for (const input of [rawArgs, params]) {
    const fields = typeof input === "string" ? parseJson(input) : input;
    if (isFields(fields) && Object.keys(fields).length > 0) return fields;
  }
  return asString(rawArgs) ?? asString(params);
}

function readResult(tool: Fields, callId: string | undefined): Message {
  const result = typeof tool.result === "string" ? (parseJson(tool.result) ?? tool.result) : tool.result;
  const about = asFields(result);
  const isDeclined = tool.userDecision === "rejected" || about.rejected === true;
  const isError = tool.status === "error";
  const patch = formatPatch(about.diff);
  const output = isDeclined
    ? "User rejected the call."
    : isError
      ? readErrorText(tool)
      : readOutput(result, tool.result);
  const more = asFields(tool.additionalData);
  return makeToolResult(output || (tool.status === "cancelled" ? "Cancelled." : ""), {
    callId,
    isError: isError || tool.status === "cancelled" || about.applyFailed === true,
    patch,
    exitCode: [about.exitCodeV2, about.exitCode].find((code): code is number => Number.isSafeInteger(code)),
    session: asString(more.subagentComposerId) ?? asString(about.agentId),
  });
}

function readOutput(result: unknown, raw: unknown): string {
  if (isFields(result)) {
    for (const name of ["output", "contents", "content", "result", "message"]) {
      const text = result[name];
      if (typeof text === "string" && text !== "") return text;
    }
    if (result.output === "" || formatPatch(result.diff)) return "";
  }
  return asString(raw) ?? (result === undefined || result === null ? "" : JSON.stringify(result));
}

function formatPatch(diff: unknown): string | undefined {
  const chunks = listFields(asFields(diff).chunks);
  const parts = chunks.flatMap((chunk) => {
    const text = asString(chunk.diffString);
    const [from, lines, to, toLines] = [chunk.oldStart, chunk.oldLines, chunk.newStart, chunk.newLines].map(asCount);
    return text ? [`@@ -${from ?? 0},${lines ?? 0} +${to ?? 0},${toLines ?? 0} @@\n${text}`] : [];
  });
  return parts.length > 0 ? parts.join("\n") : undefined;
}

function readErrorText({ error, result }: Fields): string {
  const value = typeof error === "string" ? (parseJson(error) ?? error) : error;
  const fields = asFields(value);
  const reason = asString(fields.modelVisibleErrorMessage) ?? asString(fields.clientVisibleErrorMessage);
  return reason ?? asString(value) ?? asString(fields.error) ?? asString(fields.message) ?? asString(result) ?? "Error";
}

/** A smaller time is relative to the beginning of the request. */
const minEpochMs = 946_684_800_000;

export function findTime({ createdAt, timestamp, timingInfo }: Fields): unknown {
  if (createdAt || timestamp) return createdAt || timestamp;
  const timing = asFields(timingInfo);
  return [timing.clientRpcSendTime, timing.clientStartTime, timing.clientSettleTime, timing.clientEndTime].find(
    (value) => typeof value === "number" && value > minEpochMs,
  );
}

export function readUsage({ tokenCount }: Fields): Usage | undefined {
  if (!isFields(tokenCount)) return undefined;
  return readTokens({ inputTokens: tokenCount.inputTokens, outputTokens: tokenCount.outputTokens });
}
