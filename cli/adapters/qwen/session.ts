import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { inlineText } from "../blocks.ts";
import { notice, thinking, toolCall, toolResult } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";

export const source = "qwen-code";

/** System records that belong to no message. */
const skippedSystem = new Set(
  `ui_telemetry slash_command at_command rewind session_artifact_snapshot file_history_snapshot
  attribution_snapshot custom_title`.split(/\s+/),
);

/** How parts of a user's message begin that the program or a hook added. */
const injected = /^\s*<(?:qwen:[\w-]+|system-reminder)\b/;

/** Builds one session from the records of a file. */
export class QwenSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;

  constructor(sink: Sink, id: string) {
    this.#sink = sink;
    this.#session = new SessionBuilder(sink, source, id);
  }

  add(record: Fields): void {
    this.#session.noteFolder(record.cwd);
    this.#session.note("branch", record.gitBranch);
    this.#session.note("agentVersion", record.version);
    if (record.subtype === "custom_title" && isFields(record.systemPayload)) {
      this.#session.noteTitle(record.systemPayload.customTitle);
    }
    const messages = this.#messagesOf(record);
    if (messages.length === 0) this.#sink.skipped();
    this.#session.send(messages, {
      at: record.timestamp,
      model: record.model,
      usage: record.type === "assistant" ? readUsage(record.usageMetadata) : undefined,
    });
  }

  #messagesOf(record: Fields): Message[] {
    const message = isFields(record.message) ? record.message : {};
    const parts = Array.isArray(message.parts) ? message.parts.filter(isFields) : [];
    switch (record.type) {
      case "user":
        return parts.flatMap((part) => this.#part(part, "user", record));
      case "assistant":
        return parts.flatMap((part) => this.#part(part, "assistant", record));
      case "tool_result":
        return parts.flatMap((part) => this.#part(part, "tool", record));
      case "system":
        return this.#system(record, parts);
      default:
        this.#sink.unhandled(asString(record.type) ?? "(none)");
        return [];
    }
  }

  #part(part: Fields, role: "user" | "assistant" | "tool", record: Fields): Message[] {
    if (isFields(part.functionCall)) {
      const { id, name, args } = part.functionCall;
      return [toolCall(asString(name) ?? "tool", asString(id), args)];
    }
    if (isFields(part.functionResponse)) return [resultOf(part.functionResponse, record)];
    const text = this.#text(part);
    if (text.trim() === "") return [];
    if (part.thought === true) return [thinking(text)];
    if (role !== "user") return [{ role, content: text }];
    const isInjected = injected.test(text) || record.subtype === "notification";
    return [isInjected ? notice(text, "user") : { role: "user", content: text }];
  }

  #text(part: Fields): string {
    if (typeof part.text === "string") return part.text;
    if (isFields(part.inlineData)) return inlineText(part.inlineData);
    if (isFields(part.fileData)) return `[file: ${asString(part.fileData.fileUri) ?? ""}]`;
    this.#sink.unhandled(`content.${Object.keys(part)[0] ?? "(none)"}`);
    return "";
  }

  /** A system record with a text is shown, whatever its name. */
  #system({ subtype, systemPayload }: Fields, parts: Fields[]): Message[] {
    const name = asString(subtype) ?? "(none)";
    if (skippedSystem.has(name)) return [];
    const payload = isFields(systemPayload) ? systemPayload : {};
    const texts = [
      ...parts.map((part) => asString(part.text)),
      asString(payload.summary),
      asString(payload.displayText),
    ];
    const text = texts.filter(Boolean).join("\n");
    if (name !== "chat_compression") this.#sink.unhandled(`system.${name}`);
    return text ? [notice(text)] : [];
  }

  end(): void {
    this.#session.end();
  }
}

/** A tool's result, with what the program noted beside it: whether it failed, and the change it made. */
function resultOf({ id, response }: Fields, { toolCallResult }: Fields): Message {
  const about = isFields(toolCallResult) ? toolCallResult : {};
  const display = isFields(about.resultDisplay) ? about.resultDisplay : {};
  const isError = about.status === "error" || about.status === "cancelled";
  return toolResult(outputOf(response) || (asString(about.resultDisplay) ?? ""), {
    callId: asString(id) ?? asString(about.callId),
    isError,
    patch: asString(display.fileDiff),
  });
}

/** A response: the text in `output` or `error`, else all of its fields as JSON. */
function outputOf(response: unknown): string {
  if (!isFields(response)) return asString(response) ?? "";
  const text = asString(response.output) ?? asString(response.error);
  if (text !== undefined || response.output === "") return text ?? "";
  return Object.keys(response).length > 0 ? JSON.stringify(response) : "";
}

/** The prompt's tokens include those from the cache, the answer's those of its thoughts. */
function readUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const cacheReadTokens = asCount(usage.cachedContentTokenCount) ?? 0;
  return {
    inputTokens: Math.max(0, (asCount(usage.promptTokenCount) ?? 0) - cacheReadTokens),
    outputTokens: asCount(usage.candidatesTokenCount) ?? 0,
    cacheReadTokens,
    reasoningTokens: asCount(usage.thoughtsTokenCount) ?? 0,
  };
}
