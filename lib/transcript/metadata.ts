import { type Fields, isFields } from "#common/evidence/text";
import type { Call, MessagePiece, ToolResult } from "#lib/transcript/call";
import { isKind, type ReaderMessage } from "#lib/transcript/message";
import { firstLine, readableJson } from "#lib/transcript/text";

function getString(fields: Fields, ...keys: string[]): string | undefined {
  for (const key of keys) if (typeof fields[key] === "string" && fields[key] !== "") return fields[key];
  return undefined;
}

function getNumber(fields: Fields, ...keys: string[]): number | undefined {
  for (const key of keys) if (typeof fields[key] === "number" && Number.isFinite(fields[key])) return fields[key];
  return undefined;
}

const idKeys = ["callId", "call_id", "tool_use_id", "toolUseId", "toolCallId", "tool_call_id", "id"];

/** The documented vocabulary (docs/trace-format.md), or common agents' own shapes. */
export function readMetadata({ metadata, content }: ReaderMessage): MessagePiece[] | undefined {
  if (!metadata) return undefined;
  const own = readOwn(metadata, content);
  if (own) return own;
  for (const fields of [metadata, metadata.payload, metadata.message]) {
    const pieces = isFields(fields) ? readForeign(fields, content) : [];
    if (pieces.length > 0) return pieces.map((piece) => enrich(piece, metadata.toolUseResult));
  }
  return undefined;
}

function readOwn(metadata: Fields, content: string): MessagePiece[] | undefined {
  const { tool, result, kind } = metadata;
  if (typeof tool === "string" || isFields(tool)) return [readOwnTool(tool, metadata, content)];
  if (isFields(result) && getString(result, ...idKeys))
    return [{ type: "result", result: readOwnResult(result, metadata, content) }];
  switch (kind) {
    case "user":
    case "assistant":
      return [{ type: "text", kind, title: "", text: content }];
    case "thinking":
    case "command":
    case "notice":
      return [{ type: "text", kind, title: firstLine(content), text: content }];
    default:
      return isKind(kind) ? [readOwnTool(kind, { ...metadata, input: { text: content } }, "")] : undefined;
  }
}

function readOwnTool(tool: string | Fields, metadata: Fields, content: string): MessagePiece {
  const fields: Fields = typeof tool === "string" ? { ...metadata, name: tool } : { ...metadata, ...tool };
  const call: Call = {
    name: getString(fields, "name") ?? "tool",
    input: readInput(fields.input ?? fields.arguments ?? fields.args),
  };
  if (isKind(metadata.kind)) call.kind = metadata.kind;
  const type = getString(fields, "type");
  if (type) call.type = type;
  const callId = getString(fields, ...idKeys);
  if (callId) call.callId = callId;
  const reported = isFields(metadata.result) ? metadata.result : fields;
  const ended = ["output", "exitCode", "isError", "status"].some((key) => reported[key] !== undefined);
  const output = fields.content === "call" ? "" : content;
  if (!ended && output.trim() === "") return { type: "call", call };
  return { type: "call", call, result: readOwnResult(reported, metadata, output) };
}

function readOwnResult(fields: Fields, metadata: Fields, content: string): ToolResult {
  const output = fields.output === undefined ? content : toText(fields.output);
  const status = getString(fields, "status");
  const failed = fields.isError === true || (status !== undefined && /^(error|failed|failure)$/i.test(status));
  const callId = getString(fields, ...idKeys);
  const exitCode = getNumber(fields, "exitCode", "exit_code");
  const durationMs = getNumber(fields, "durationMs") ?? getNumber(metadata, "durationMs");
  const patch = getString(fields, "patch", "diff");
  const name = getString(metadata, "toolName");
  const session = isFields(metadata.result) ? getString(metadata.result, "session") : undefined;
  return {
    output,
    ...(failed && { failed }),
    ...(callId && { callId }),
    ...(exitCode !== undefined && { exitCode }),
    ...(durationMs !== undefined && { durationMs }),
    ...(patch && { patch }),
    ...(name && { name }),
    ...(session && { session }),
  };
}

const callTypes = /^(tool_use|server_tool_use|tool-call|tool_call|function_call|custom_tool_call|local_shell_call)$/;
const resultTypes = /^(tool_result|web_search_tool_result|tool-result|function_call_output|custom_tool_call_output)$/;

function readForeign(fields: Fields, content: string): MessagePiece[] {
  const one = readBlock(fields, content);
  if (one) return [one];
  const pieces: MessagePiece[] = [];
  const blocks = Array.isArray(fields.content) ? fields.content.filter(isFields) : [];
  for (const block of blocks.slice(0, 200)) {
    const piece = readBlock(block, "");
    if (piece) pieces.push(piece);
  }
  if (Array.isArray(fields.thoughts)) pieces.push(...readThoughts(fields.thoughts));
  const calls = [fields.toolCalls, fields.tool_calls].find(Array.isArray) ?? [];
  for (const call of calls.filter(isFields).slice(0, 200)) pieces.push(readListedCall(call));
  for (const key of ["tool_use", "toolUse", "functionCall"])
    if (isFields(fields[key])) pieces.push(readCall(fields[key]));
  for (const key of ["tool_result", "toolResult", "functionResponse"])
    if (isFields(fields[key])) pieces.push({ type: "result", result: readResult(fields[key], content) });
  return withContent(pieces, content);
}

function withContent(pieces: MessagePiece[], content: string): MessagePiece[] {
  if (pieces.length === 0 || content.trim() === "") return pieces;
  if (pieces.some(({ type }) => type === "result")) return pieces;
  const texts = pieces.filter((piece) => piece.type === "text" && piece.kind === "assistant");
  if (texts.length > 0) return pieces;
  const thoughts = pieces.filter(({ type }) => type === "text");
  const rest = pieces.filter(({ type }) => type !== "text");
  return [...thoughts, { type: "text", kind: "assistant", title: "", text: content }, ...rest];
}

function readBlock(block: Fields, content: string): MessagePiece | undefined {
  const type = getString(block, "type") ?? "";
  if (callTypes.test(type)) return readCall(block);
  if (resultTypes.test(type)) return { type: "result", result: readResult(block, content) };
  if (type === "thinking" || type === "reasoning") {
    const text = getString(block, "thinking", "text") ?? (toText(block.summary ?? block.content) || content);
    return text.trim() === "" ? undefined : { type: "text", kind: "thinking", title: firstLine(text), text };
  }
  const text = type === "text" ? getString(block, "text") : undefined;
  return text === undefined ? undefined : { type: "text", kind: "assistant", title: "", text };
}

function readCall(block: Fields): MessagePiece {
  const callId = getString(block, ...idKeys);
  const action = isFields(block.action) ? block.action : undefined;
  const name = getString(block, "name") ?? (action ? "local_shell" : "tool");
  const input = readInput(block.input ?? block.arguments ?? block.args ?? action);
  return { type: "call", call: { name, input, ...(callId && { callId }) } };
}

/** Gemini's `toolCalls` include their results; OpenAI's `tool_calls` contain a `function`. */
function readListedCall(call: Fields): MessagePiece {
  const called = isFields(call.function) ? { ...call.function, id: call.id } : call;
  const piece = readCall(called);
  const output = toText(call.resultDisplay ?? call.result ?? call.output);
  const failed = /^(error|failed|cancelled)$/.test(getString(call, "status") ?? "");
  if (piece.type !== "call" || (output === "" && call.status === undefined)) return piece;
  return { ...piece, result: { output, ...(failed && { failed }) } };
}

function readResult(block: Fields, content: string): ToolResult {
  const callId = getString(block, ...idKeys);
  const name = getString(block, "name");
  const given = toText(block.content ?? block.output ?? block.response) || content;
  const { output, exitCode, durationMs } = readCodexOutput(given);
  return {
    output,
    ...(block.is_error === true && { failed: true }),
    ...(callId && { callId }),
    ...(name && { name }),
    ...(exitCode !== undefined && { exitCode }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

/** Codex writes `{"output":"…","metadata":{"exit_code":0,"duration_seconds":0.1}}` as the output's text. */
function readCodexOutput(text: string): {
  output: string;
  exitCode?: number | undefined;
  durationMs?: number | undefined;
} {
  if (!/^\{\s*"(output|metadata)"/.test(text)) return { output: text };
  const parsed = parse(text);
  if (!isFields(parsed) || typeof parsed.output !== "string") return { output: text };
  const metadata = isFields(parsed.metadata) ? parsed.metadata : {};
  const seconds = getNumber(metadata, "duration_seconds");
  return {
    output: parsed.output,
    exitCode: getNumber(metadata, "exit_code"),
    durationMs: seconds === undefined ? undefined : Math.round(seconds * 1000),
  };
}

function enrich(piece: MessagePiece, reported: unknown): MessagePiece {
  if (piece.type !== "result" || !isFields(reported)) return piece;
  const patch = Array.isArray(reported.structuredPatch) ? joinHunks(reported.structuredPatch.filter(isFields)) : "";
  const durationMs = getNumber(reported, "totalDurationMs", "durationMs");
  const result = { ...piece.result, ...(patch && { patch }), ...(durationMs !== undefined && { durationMs }) };
  return { type: "result", result };
}

function joinHunks(hunks: Fields[]): string {
  return hunks
    .slice(0, 500)
    .map(({ oldStart, newStart, lines }) => {
      const body = Array.isArray(lines) ? lines.filter((line) => typeof line === "string").join("\n") : "";
      return `@@ -${Number(oldStart)} +${Number(newStart)} @@\n${body}`;
    })
    .join("\n");
}

function readThoughts(thoughts: unknown[]): MessagePiece[] {
  const text = thoughts
    .filter(isFields)
    .map((thought) => [getString(thought, "subject"), getString(thought, "description")].filter(Boolean).join("\n\n"))
    .join("\n\n");
  return text === "" ? [] : [{ type: "text", kind: "thinking", title: firstLine(text), text }];
}

function readInput(input: unknown): Fields {
  const value = typeof input === "string" && /^\s*\{/.test(input) ? (parseInput(input) ?? input) : input;
  if (isFields(value)) return value;
  return value === undefined || value === null ? {} : { input: value };
}

/** No tool takes an input of more levels. */
const maxLevels = 64;

/** Deeper JSON stays text, since serializing it would overflow the stack. */
function parseInput(text: string): unknown {
  const value = parse(text);
  return isDeeper(value, maxLevels) ? undefined : value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function toText(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (depth > 8 || !(Array.isArray(value) || isFields(value))) return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) return value.map((entry) => toText(entry, depth + 1)).join("\n");
  for (const key of ["text", "output", "functionResponse", "response", "content", "stdout", "error"])
    if (value[key] !== undefined && value[key] !== "") return toText(value[key], depth + 1);
  return readableJson(value);
}
