import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { inlineText } from "../pictures.ts";
import { exitCodeIn } from "../shell-report.ts";
import { asString, asTimestamp } from "../values.ts";
import { userMessages } from "./references.ts";

/** How user messages begin that the program injected. */
const injected =
  /^\s*<(?:session_context|state_snapshot|hook_context)\b|^You have [\w ]+\. You have one final chance to complete the task/;

/**
 * Builds the messages of one session's records. It remembers tool calls and results: later records repeat them in what was
 * sent to the model.
 */
export class GeminiMessages {
  readonly #unhandled: (type: string) => void;
  readonly #sessionId: string;
  readonly #called = new Set<string>();
  readonly #answered = new Set<string>();

  /** @param unhandled called with unknown types */
  constructor(sessionId: string, unhandled: (type: string) => void) {
    this.#sessionId = sessionId;
    this.#unhandled = unhandled;
  }

  /** A record's thoughts, text, tool calls and results; none where it is empty. */
  read(record: Fields): Message[] {
    switch (record.type) {
      case "user":
        return this.#parts(record.displayContent ?? record.content, "user");
      case "gemini":
        return this.#answer(record);
      case "info":
      case "warning":
      case "error":
        return this.#parts(record.content, "system");
      default:
        this.#unhandled(asString(record.type) ?? "(none)");
        return [];
    }
  }

  #answer({ thoughts, content, toolCalls }: Fields): Message[] {
    const calls = toList(toolCalls).filter(isFields);
    const called = calls.flatMap((call) => this.#call(call));
    return [
      ...toList(thoughts).filter(isFields).flatMap(thoughtMessages),
      ...this.#parts(content, "assistant"),
      ...called,
    ];
  }

  #call(call: Fields): Message[] {
    const callId = asString(call.id);
    if (callId && this.#called.has(callId)) return [];
    if (callId) this.#called.add(callId);
    const message = toolCall(asString(call.name) ?? "tool", callId, call.args);
    const status = asString(call.status) ?? "";
    const isDone = ["success", "error", "cancelled"].includes(status);
    const hasResult = call.result !== undefined && call.result !== null;
    if (!isDone && !hasResult) return [message];
    if (callId) this.#answered.add(callId);
    const display = isFields(call.resultDisplay) ? call.resultDisplay : {};
    const agentId = asString(call.agentId);
    const output = this.#readOutput(call);
    const result = toolResult(output, {
      callId,
      exitCode: exitCodeIn(call.name, output),
      isError: status === "error" || status === "cancelled",
      patch: asString(display.fileDiff),
      session: agentId && `${this.#sessionId}/${agentId}`,
    });
    const createdAt = asTimestamp(call.timestamp);
    return [message, createdAt ? { ...result, createdAt } : result];
  }

  #readOutput({ result, resultDisplay }: Fields): string {
    const outputs = toList(result)
      .map((part) => (isFields(part) && isFields(part.functionResponse) ? responseText(part.functionResponse) : part))
      .map((part) => (typeof part === "string" ? part : isFields(part) ? this.#readText(part) : ""))
      .filter(Boolean);
    return outputs.length > 0 ? outputs.join("\n") : typeof resultDisplay === "string" ? resultDisplay : "";
  }

  /** A content is a text, a part, or a list of both. What was sent to the model has calls and results among its parts. */
  #parts(content: unknown, role: "user" | "assistant" | "system"): Message[] {
    const messages: Message[] = [];
    let text = "";
    let attachments: Fields[] = [];
    /** The result that stands before a part; undefined where the call's record has it already. */
    let before: { result: Message | undefined } | undefined;
    const flush = () => {
      if (text.trim() !== "") {
        const [first, ...others] = textMessages(text, role);
        if (first) messages.push(withAttachments(first, attachments), ...others);
      }
      text = "";
      attachments = [];
    };
    for (const part of toList(content)) {
      if (before && isFields(part) && (part.inlineData ?? part.fileData) !== undefined) {
        // A picture that a tool returned is nobody's message.
        if (before.result) addText(before.result, this.#readText(part));
        continue;
      }
      if (isFields(part)) attachments.push(...attachmentsIn(part));
      const words = typeof part === "string" ? part : isFields(part) ? this.#readText(part) : "";
      if (words) text += text ? `\n${words}` : words;
      const others = isFields(part) ? this.#separateMessages(part) : [];
      if (others.length > 0) flush();
      messages.push(...others);
      if (isFields(part) && isFields(part.functionResponse)) before = { result: others[0] };
    }
    flush();
    return messages;
  }

  /** A part's thought, call or result, which is a separate message. */
  #separateMessages({ functionCall, functionResponse, thought: isThought, text }: Fields): Message[] {
    if (isThought === true) return typeof text === "string" && text !== "" ? [thinking(text)] : [];
    if (isFields(functionCall)) {
      const callId = asString(functionCall.id);
      if (callId && this.#called.has(callId)) return [];
      if (callId) this.#called.add(callId);
      return [toolCall(asString(functionCall.name) ?? "tool", callId, functionCall.args)];
    }
    if (isFields(functionResponse)) {
      const callId = asString(functionResponse.id);
      if (callId && this.#answered.has(callId)) return [];
      if (callId) this.#answered.add(callId);
      const output = responseText(functionResponse);
      return [toolResult(output, { callId, exitCode: exitCodeIn(functionResponse.name, output) })];
    }
    return [];
  }

  #readText(part: Fields): string {
    if (part.thought === true || part.functionCall || part.functionResponse) return "";
    if (typeof part.text === "string") return part.text;
    if (isFields(part.inlineData)) return inlineText(part.inlineData);
    if (isFields(part.fileData)) return `[file: ${asString(part.fileData.fileUri) ?? ""}]`;
    if (isFields(part.executableCode)) return asString(part.executableCode.code) ?? "";
    if (isFields(part.codeExecutionResult)) return asString(part.codeExecutionResult.output) ?? "";
    this.#unhandled(`content.${Object.keys(part)[0] ?? "(none)"}`);
    return "";
  }
}

const withAttachments = (message: Message, attachments: Fields[]): Message =>
  withMetadata(message, { attachments: attachments.length > 0 ? attachments : undefined });

function addText(message: Message, text: string): void {
  message.content = [message.content, text].filter(Boolean).join("\n");
}

/** A file in a part, by its type and name. */
function attachmentsIn({ inlineData, fileData }: Fields): Fields[] {
  return [inlineData, fileData].filter(isFields).map(({ mimeType, displayName, fileUri }) => {
    const [type, name] = [asString(mimeType), asString(displayName) ?? asString(fileUri)];
    return { ...(type && { type }), ...(name && { name: name.slice(0, 2048) }) };
  });
}

function textMessages(text: string, role: "user" | "assistant" | "system"): Message[] {
  if (role === "system") return [notice(text)];
  if (role === "assistant") return [{ role, content: text }];
  return injected.test(text) ? [notice(text, "user")] : userMessages(text);
}

function thoughtMessages({ subject, description, timestamp }: Fields): Message[] {
  const text = [asString(subject), asString(description)].filter(Boolean).join("\n\n");
  const createdAt = asTimestamp(timestamp);
  return text ? [createdAt ? { ...thinking(text), createdAt } : thinking(text)] : [];
}

/** A tool's response: the text in `output` or `error`, else all of its fields as JSON; below it the pictures that came with it. */
export function responseText({ response, parts }: Fields): string {
  const pictures = toList(parts)
    .filter(isFields)
    .map(({ inlineData }) => (isFields(inlineData) ? inlineText(inlineData) : ""));
  return [formatResponse(response), ...pictures].filter(Boolean).join("\n");
}

function formatResponse(response: unknown): string {
  if (!isFields(response)) return asString(response) ?? "";
  const text = asString(response.output) ?? asString(response.error);
  if (text !== undefined) return text;
  return Object.keys(response).length > 0 && response.output !== "" ? JSON.stringify(response) : "";
}

const toList = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
