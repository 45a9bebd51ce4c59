import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import {
  makeNotice,
  makeToolCall,
  makeToolResult,
  toNotices,
  toTexts,
  toThoughts,
  withAttachments,
} from "../messages.ts";
import { formatUrl, parseDataUrlType } from "../pictures.ts";
import type { SessionBuilder } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asCount, asFields, asString, joinTexts, listFields } from "../values.ts";

export const source = "continue";

const ended = new Set(["done", "errored", "canceled"]);

export class History {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #answered = new Set<string>();
  hasUsage = false;

  constructor(sink: Sink, session: SessionBuilder) {
    this.#sink = sink;
    this.#session = session;
  }

  add(item: Fields, { isReplayed = false } = {}): void {
    const message = asFields(item.message);
    const reasoning = asFields(item.reasoning);
    const usage = readUsage(message.usage);
    this.hasUsage ||= usage !== undefined;
    const messages = this.#readMessages(message, item, reasoning);
    const at = asCount(reasoning.startAt);
    const model = message.role === "assistant" ? (getUsageModel(message.usage) ?? findModel(item)) : undefined;
    this.#session.add(messages, { at, model, usage, isReplayed });
    const summary = asString(item.conversationSummary);
    if (summary) this.#session.send([makeNotice(summary)], { isReplayed });
  }

  #readMessages(message: Fields, item: Fields, reasoning: Fields): Message[] {
    const text = this.#readText(message.content);
    switch (message.role) {
      case "user":
        return text === "" ? [] : [nameFiles({ role: "user", content: text }, message, item)];
      case "assistant":
        return [...toThoughts(reasoning.text), ...toTexts("assistant", text), ...this.#readCalls(message, item)];
      case "thinking":
        return toThoughts(text);
      case "tool": {
        const callId = asString(message.toolCallId);
        return callId && this.#answered.has(callId) ? [] : [makeToolResult(text, { callId })];
      }
      case "system":
        return toNotices(text);
      default:
        this.#sink.unhandled(`role.${asString(message.role) ?? "(none)"}`);
        return [];
    }
  }

  #readText(content: unknown): string {
    if (typeof content === "string") return content;
    const parts = listFields(content);
    const texts = parts.map((part) => {
      if (part.type === "imageUrl") return formatImage(part.imageUrl);
      if (part.type !== "text") this.#sink.unhandled(`content.${asString(part.type) ?? "(none)"}`);
      return asString(part.text) ?? "";
    });
    return joinTexts(texts);
  }

  #readCalls({ toolCalls }: Fields, { toolCallStates, toolCallState }: Fields): Message[] {
    const listed = Array.isArray(toolCallStates) ? toolCallStates : toolCallState === undefined ? [] : [toolCallState];
    const states = listed.filter(isFields);
    const calls = listFields(toolCalls);
    const ids = new Set(states.map(({ toolCallId }) => toolCallId));
    const rest = calls.filter(({ id }) => !ids.has(id)).map((made) => ({ toolCall: made, toolCallId: made.id }));
    return [...states, ...rest].flatMap((state: Fields) => this.#readCall(state));
  }

  #readCall({ toolCallId, toolCall: call, parsedArgs, status, output }: Fields): Message[] {
    const callId = asString(toolCallId);
    const made = asFields(asFields(call).function);
    const input = isFields(parsedArgs) && Object.keys(parsedArgs).length > 0 ? parsedArgs : made.arguments;
    const message = makeToolCall(made.name, callId, input);
    if (!ended.has(asString(status) ?? "")) return [message];
    if (callId) this.#answered.add(callId);
    const parts = listFields(output).map(({ content }) => content);
    const text = joinTexts(parts, "\n\n");
    const isError = status !== "done";
    const [, code] = (isError && /^Error executing tool Bash: Error \(exit code (\d{1,3})\)/.exec(text)) || [];
    const outcome = { callId, isError, exitCode: code === undefined ? undefined : Number(code) };
    return [message, makeToolResult(text || (status === "canceled" ? "The call was canceled." : ""), outcome)];
  }
}

const formatImage = (image: unknown): string => {
  const url = isFields(image) ? image.url : image;
  return parseDataUrlType(url) ? formatUrl("image", String(url)) : "[image]";
};

function nameFiles(message: Message, { content }: Fields, { contextItems }: Fields): Message {
  const images = listFields(content).filter(({ type }) => type === "imageUrl");
  const attachments = [
    ...listFields(contextItems).flatMap(({ name }) => (asString(name) ? [{ type: "file", name: String(name) }] : [])),
    ...images.map(() => ({ type: "image" })),
  ];
  return withAttachments(message, attachments);
}

function findModel({ promptLogs }: Fields): string | undefined {
  const log = listFields(promptLogs).at(-1);
  return asString(asFields(log?.completionOptions).model) ?? asString(log?.modelTitle);
}

const getUsageModel = (usage: unknown): string | undefined => asString(asFields(usage).model);

/** With OpenAI's API, the prompt's tokens include cached ones; with Anthropic's they do not. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isFields(value)) return undefined;
  const prompt = asCount(value.promptTokens) ?? asCount(value.prompt_tokens);
  const outputTokens = asCount(value.completionTokens) ?? asCount(value.completion_tokens);
  if (prompt === undefined && outputTokens === undefined) return undefined;
  const details = asFields(value.promptTokensDetails ?? value.prompt_tokens_details);
  const thoughts = asFields(value.completionTokensDetails ?? value.completion_tokens_details);
  const read = asCount(details.cache_read_tokens);
  const written = asCount(details.cacheWriteTokens) ?? asCount(details.cache_write_tokens);
  const cacheReadTokens = read ?? asCount(details.cachedTokens) ?? asCount(details.cached_tokens) ?? 0;
  const cacheWriteTokens = written ?? 0;
  const cached = cacheReadTokens + cacheWriteTokens;
  const input = prompt ?? 0;
  const isAnthropic = (read ?? written) !== undefined && /claude/i.test(getUsageModel(value) ?? "claude");
  return {
    inputTokens: !isAnthropic && input >= cached ? input - cached : input,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: asCount(thoughts.reasoningTokens) ?? asCount(thoughts.reasoning_tokens) ?? 0,
  };
}
