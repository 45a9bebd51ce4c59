import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeNotice, makeToolCall, makeToolResult, toThoughts, withAttachments, withTime } from "../messages.ts";
import { asFields, asString, joinTexts, listFields } from "../values.ts";
import { listAttachments, readExitCode, readPartText, readResponse, splitUserText } from "./response-parts.ts";

const injected =
  /^\s*<(?:session_context|state_snapshot|hook_context)\b|^You have [\w ]+\. You have one final chance to complete the task/;

/** Later records repeat calls and results in what was sent to the model. */
export class GeminiMessages {
  readonly #unhandled: Unhandled;
  readonly #sessionId: string;
  readonly #called = new Set<string>();
  readonly #answered = new Set<string>();

  constructor(sessionId: string, unhandled: Unhandled) {
    this.#sessionId = sessionId;
    this.#unhandled = unhandled;
  }

  read(record: Fields): Message[] {
    switch (record.type) {
      case "user":
        return this.#readParts(record.displayContent ?? record.content, "user");
      case "gemini":
        return this.#readAnswer(record);
      case "info":
      case "warning":
      case "error":
        return this.#readParts(record.content, "system");
      default:
        this.#unhandled(asString(record.type) ?? "(none)");
        return [];
    }
  }

  #readAnswer({ thoughts, content, toolCalls }: Fields): Message[] {
    const called = listFields(toolCalls).flatMap((call) => this.#readCall(call));
    return [...listFields(thoughts).flatMap(readThought), ...this.#readParts(content, "assistant"), ...called];
  }

  #readCall(call: Fields): Message[] {
    const callId = asString(call.id);
    if (callId && this.#called.has(callId)) return [];
    if (callId) this.#called.add(callId);
    const message = makeToolCall(call.name, callId, call.args);
    const status = asString(call.status) ?? "";
    const isDone = ["success", "error", "cancelled"].includes(status);
    const hasResult = call.result !== undefined && call.result !== null;
    if (!isDone && !hasResult) return [message];
    if (callId) this.#answered.add(callId);
    const display = asFields(call.resultDisplay);
    const agentId = asString(call.agentId);
    const output = this.#readOutput(call);
    const result = makeToolResult(output, {
      callId,
      exitCode: readExitCode(call.name, output),
      isError: status === "error" || status === "cancelled",
      patch: display.fileDiff,
      session: agentId && `${this.#sessionId}/${agentId}`,
    });
    return [message, withTime(result, call.timestamp)];
  }

  #readOutput({ result, resultDisplay }: Fields): string {
    const outputs = wrapInList(result)
      .map((part) => (isFields(part) && isFields(part.functionResponse) ? readResponse(part.functionResponse) : part))
      .map((part) => (typeof part === "string" ? part : isFields(part) ? this.#readText(part) : ""))
      .filter(Boolean);
    return outputs.length > 0 ? outputs.join("\n") : typeof resultDisplay === "string" ? resultDisplay : "";
  }

  #readParts(content: unknown, role: "user" | "assistant" | "system"): Message[] {
    const messages: Message[] = [];
    let text = "";
    let attachments: Fields[] = [];
    /** Undefined inside if the call's record has the result already. */
    let before: { result: Message | undefined } | undefined;
    const flush = () => {
      if (text.trim() !== "") {
        const [first, ...others] = readText(text, role);
        if (first) messages.push(withAttachments(first, attachments), ...others);
      }
      text = "";
      attachments = [];
    };
    for (const part of wrapInList(content)) {
      if (before && isFields(part) && (part.inlineData ?? part.fileData) !== undefined) {
        if (before.result) before.result.content = joinTexts([before.result.content, this.#readText(part)]);
        continue;
      }
      if (isFields(part)) attachments.push(...listAttachments(part));
      const words = typeof part === "string" ? part : isFields(part) ? this.#readText(part) : "";
      if (words) text += text ? `\n${words}` : words;
      const others = isFields(part) ? this.#readSeparatePart(part) : [];
      if (others.length > 0) flush();
      messages.push(...others);
      if (isFields(part) && isFields(part.functionResponse)) before = { result: others[0] };
    }
    flush();
    return messages;
  }

  #readSeparatePart({ functionCall, functionResponse, thought: isThought, text }: Fields): Message[] {
    if (isThought === true) return toThoughts(text);
    if (isFields(functionCall)) {
      const callId = asString(functionCall.id);
      if (callId && this.#called.has(callId)) return [];
      if (callId) this.#called.add(callId);
      return [makeToolCall(functionCall.name, callId, functionCall.args)];
    }
    if (isFields(functionResponse)) {
      const callId = asString(functionResponse.id);
      if (callId && this.#answered.has(callId)) return [];
      if (callId) this.#answered.add(callId);
      const output = readResponse(functionResponse);
      return [makeToolResult(output, { callId, exitCode: readExitCode(functionResponse.name, output) })];
    }
    return [];
  }

  #readText(part: Fields): string {
    if (part.thought === true || part.functionCall || part.functionResponse) return "";
    return readPartText(part, this.#unhandled);
  }
}

function readText(text: string, role: "user" | "assistant" | "system"): Message[] {
  if (role === "system") return [makeNotice(text)];
  if (role === "assistant") return [{ role, content: text }];
  return injected.test(text) ? [makeNotice(text, "user")] : splitUserText(text);
}

function readThought({ subject, description, timestamp }: Fields): Message[] {
  return toThoughts(joinTexts([subject, description], "\n\n")).map((thought) => withTime(thought, timestamp));
}

const wrapInList = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
