import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { parseDataUrlType, urlText } from "../pictures.ts";
import type { SessionBuilder } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";

export const source = "continue";

const ended = new Set(["done", "errored", "canceled"]);

/** Builds a session from the items of its history. */
export class History {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #answered = new Set<string>();
  /** Whether answers name their tokens. */
  hasUsage = false;

  constructor(sink: Sink, session: SessionBuilder) {
    this.#sink = sink;
    this.#session = session;
  }

  /** @param isReplayed whether the item was copied from another session */
  add(item: Fields, { isReplayed = false } = {}): void {
    const message = isFields(item.message) ? item.message : {};
    const reasoning = isFields(item.reasoning) ? item.reasoning : {};
    const usage = readUsage(message.usage);
    this.hasUsage ||= usage !== undefined;
    const messages = this.#readMessages(message, item, reasoning);
    if (messages.length === 0) this.#sink.skipped();
    const at = asCount(reasoning.startAt);
    const model = message.role === "assistant" ? (modelIn(message.usage) ?? findModel(item)) : undefined;
    this.#session.send(messages, { at, model, usage, isReplayed });
    const summary = asString(item.conversationSummary);
    if (summary) this.#session.send([notice(summary)], { isReplayed });
  }

  #readMessages(message: Fields, item: Fields, reasoning: Fields): Message[] {
    const text = this.#readText(message.content);
    switch (message.role) {
      case "user":
        return text === "" ? [] : [withAttachments({ role: "user", content: text }, message, item)];
      case "assistant":
        return [
          ...(asString(reasoning.text) ? [thinking(String(reasoning.text))] : []),
          ...(text.trim() === "" ? [] : [{ role: "assistant", content: text }]),
          ...this.#calls(message, item),
        ];
      case "thinking":
        return text === "" ? [] : [thinking(text)];
      case "tool": {
        const callId = asString(message.toolCallId);
        return callId && this.#answered.has(callId) ? [] : [toolResult(text, { callId })];
      }
      case "system":
        return text === "" ? [] : [notice(text)];
      default:
        this.#sink.unhandled(`role.${asString(message.role) ?? "(none)"}`);
        return [];
    }
  }

  #readText(content: unknown): string {
    if (typeof content === "string") return content;
    const parts = Array.isArray(content) ? content.filter(isFields) : [];
    const texts = parts.map((part) => {
      if (part.type === "imageUrl") return imageText(part.imageUrl);
      if (part.type !== "text") this.#sink.unhandled(`content.${asString(part.type) ?? "(none)"}`);
      return asString(part.text) ?? "";
    });
    return texts.filter(Boolean).join("\n");
  }

  /** An answer's calls: as the model made them, with what became of them. */
  #calls({ toolCalls }: Fields, { toolCallStates, toolCallState }: Fields): Message[] {
    const listed = Array.isArray(toolCallStates) ? toolCallStates : toolCallState === undefined ? [] : [toolCallState];
    const states = listed.filter(isFields);
    const calls = Array.isArray(toolCalls) ? toolCalls.filter(isFields) : [];
    const ids = new Set(states.map(({ toolCallId }) => toolCallId));
    const rest = calls.filter(({ id }) => !ids.has(id)).map((made) => ({ toolCall: made, toolCallId: made.id }));
    return [...states, ...rest].flatMap((state: Fields) => this.#readCall(state));
  }

  #readCall({ toolCallId, toolCall: call, parsedArgs, status, output }: Fields): Message[] {
    const callId = asString(toolCallId);
    const made = isFields(call) && isFields(call.function) ? call.function : {};
    const input = isFields(parsedArgs) && Object.keys(parsedArgs).length > 0 ? parsedArgs : made.arguments;
    const message = toolCall(asString(made.name) ?? "tool", callId, input);
    if (!ended.has(asString(status) ?? "")) return [message];
    if (callId) this.#answered.add(callId);
    const parts = Array.isArray(output) ? output.filter(isFields) : [];
    const text = parts
      .map(({ content }) => asString(content))
      .filter(Boolean)
      .join("\n\n");
    const isError = status !== "done";
    const [, code] = (isError && /^Error executing tool Bash: Error \(exit code (\d{1,3})\)/.exec(text)) || [];
    const outcome = { callId, isError, exitCode: code === undefined ? undefined : Number(code) };
    return [message, toolResult(text || (status === "canceled" ? "The call was canceled." : ""), outcome)];
  }
}

const imageText = (image: unknown): string => {
  const url = isFields(image) ? image.url : image;
  return parseDataUrlType(url) ? urlText("image", String(url)) : "[image]";
};

/** Files that were attached to a question, and images in it. */
function withAttachments(message: Message, { content }: Fields, { contextItems }: Fields): Message {
  const items = Array.isArray(contextItems) ? contextItems.filter(isFields) : [];
  const images = Array.isArray(content) ? content.filter((part) => isFields(part) && part.type === "imageUrl") : [];
  const attachments = [
    ...items.flatMap(({ name }) => (asString(name) ? [{ type: "file", name: String(name) }] : [])),
    ...images.map(() => ({ type: "image" })),
  ];
  return attachments.length > 0 ? withMetadata(message, { attachments }) : message;
}

/** The model that answered: Continue notes it with the request's log, older versions as `completionOptions`. */
function findModel({ promptLogs }: Fields): string | undefined {
  const log = Array.isArray(promptLogs) ? promptLogs.filter(isFields).at(-1) : undefined;
  const options = isFields(log?.completionOptions) ? log.completionOptions : {};
  return asString(options.model) ?? asString(log?.modelTitle);
}

const modelIn = (usage: unknown): string | undefined => (isFields(usage) ? asString(usage.model) : undefined);

/**
 * Tokens as the editor (`promptTokens`) or the CLI (`prompt_tokens`) writes them down. With OpenAI's API, cached ones are among those
 * of the prompt; with Anthropic's they are not, and only that one tells what was written to the cache.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isFields(value)) return undefined;
  const prompt = asCount(value.promptTokens) ?? asCount(value.prompt_tokens);
  const outputTokens = asCount(value.completionTokens) ?? asCount(value.completion_tokens);
  if (prompt === undefined && outputTokens === undefined) return undefined;
  const details = fieldsIn(value.promptTokensDetails ?? value.prompt_tokens_details);
  const thoughts = fieldsIn(value.completionTokensDetails ?? value.completion_tokens_details);
  const read = asCount(details.cache_read_tokens);
  const written = asCount(details.cacheWriteTokens) ?? asCount(details.cache_write_tokens);
  const cacheReadTokens = read ?? asCount(details.cachedTokens) ?? asCount(details.cached_tokens) ?? 0;
  const cacheWriteTokens = written ?? 0;
  const cached = cacheReadTokens + cacheWriteTokens;
  const input = prompt ?? 0;
  const isAnthropic = (read ?? written) !== undefined && /claude/i.test(modelIn(value) ?? "claude");
  return {
    inputTokens: !isAnthropic && input >= cached ? input - cached : input,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: asCount(thoughts.reasoningTokens) ?? asCount(thoughts.reasoning_tokens) ?? 0,
  };
}

const fieldsIn = (value: unknown): Fields => (isFields(value) ? value : {});
