import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { joinBlockTexts, toBlocks } from "../blocks.ts";
import {
  makeAttachment,
  makeNotice,
  makeThought,
  makeToolCall,
  makeToolResult,
  toTexts,
  toThoughts,
  withAttachments,
  withMetadata,
} from "../messages.ts";
import { formatData } from "../pictures.ts";
import type { SessionBuilder } from "../session-builder.ts";
import { asCount, asFields, asString, joinTexts, listFields } from "../values.ts";
import { countsCacheAsInput, type RequestUsage, type TaskRequests } from "./requests.ts";
import { resultHead, splitCalls } from "./tools.ts";
import { isProgramText, readEnvironment, readFeedback, splitUserText } from "./user-text.ts";

/** The texts of these tools are answers. */
const answers: Record<string, string> = {
  attempt_completion: "result",
  plan_mode_respond: "response",
  act_mode_respond: "response",
};

type TaskCall = {
  name: string;
  id?: string;
  /** A call with a text has no separate result. */
  isSaid?: boolean;
  /** The result of a call in tags may have no head. */
  isTagged?: boolean;
};

export class Conversation {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #requests: TaskRequests;
  #open: TaskCall[] = [];
  readonly #said = new Set<string>();
  #index = 0;

  constructor(sink: Sink, session: SessionBuilder, requests: TaskRequests) {
    this.#sink = sink;
    this.#session = session;
    this.#requests = requests;
  }

  add(message: Fields): void {
    const index = this.#index++;
    const at = asCount(message.ts) || this.#requests.getTime(index);
    const blocks = toBlocks(message.content);
    if (message.role === "assistant") {
      const used =
        readMetrics(message, this.#requests.all.length > 0) ??
        this.#requests.claim(index, asCount(message.ts) || undefined);
      const { modelId, id } = asFields(message.modelInfo);
      const model = modelId ?? id;
      this.#send(this.#readAnswer(message, blocks, index), at, used, model);
    } else if (message.role === "user") {
      this.#send(this.#readUserBlocks(blocks), at);
    } else if (message.type === "reasoning") {
      this.#send(readThoughts(message), at);
    } else this.#sink.unhandled(`role.${asString(message.role) ?? "(none)"}`);
  }

  #send(messages: Message[], at: number | undefined, { usage, costUsd }: RequestUsage = {}, model?: unknown): void {
    this.#session.add(messages, { at, model, usage, costUsd });
  }

  #readAnswer(message: Fields, blocks: Fields[], index: number): Message[] {
    const hasCalls = blocks.some(({ type }) => type === "tool_use");
    this.#open = [];
    const messages = blocks.flatMap((block, place) => this.#readAnswerBlock(block, hasCalls, `${index}.${place}`));
    const reasoning = asString(message.reasoning_content);
    const isRepeated = messages.some(({ metadata }) => metadata?.kind === "thinking");
    return reasoning && !isRepeated ? [makeThought(reasoning), ...messages] : messages;
  }

  #readAnswerBlock(block: Fields, hasCalls: boolean, id: string): Message[] {
    switch (block.type) {
      case "text": {
        const text = asString(block.text) ?? "";
        return hasCalls ? readText(text) : this.#readTagged(text, id);
      }
      case "tool_use":
        return this.#addCall(asString(block.name) ?? "tool", block.input, asString(block.id) ?? id);
      case "thinking":
      case "reasoning":
        return readThoughts(block);
      case "redacted_thinking":
      case "thoughtSignature":
        return [];
      case "image":
        return [{ role: "assistant", content: formatImage(block) }];
      default:
        this.#sink.unhandled(`content.${asString(block.type) ?? "(none)"}`);
        return [];
    }
  }

  #readTagged(answer: string, id: string): Message[] {
    return splitCalls(answer).flatMap((piece, place) =>
      "text" in piece
        ? readText(piece.text.trim())
        : this.#addCall(piece.tool, piece.input, `${id}.${place}`, { isTagged: true }),
    );
  }

  #addCall(name: string, input: unknown, id: string, { isTagged = false } = {}): Message[] {
    const field = Object.hasOwn(answers, name) ? answers[name] : undefined;
    const said = isFields(input) && field ? asString(input[field]) : undefined;
    this.#open.push({ name, id, isTagged, isSaid: said !== undefined });
    if (said === undefined) return [makeToolCall(name, id, input)];
    this.#said.add(id);
    return [{ role: "assistant", content: said }];
  }

  #readUserBlocks(blocks: Fields[]): Message[] {
    const messages: Message[] = [];
    let result: TaskCall | undefined;
    /** A tool's pictures precede its result. */
    let pictures: Fields[] = [];
    for (const block of blocks) {
      if (block.type === "tool_result") messages.push(...this.#readResult(block));
      else if (block.type === "text") {
        const { rest, environment } = readEnvironment(asString(block.text) ?? "");
        this.#session.noteFolder(environment.cwd);
        this.#session.noteModel(environment.model);
        if (rest === "") continue;
        const head = resultHead.exec(rest);
        const isOther = head === null && (hasTags(rest) || isProgramText(rest));
        if (head) result = this.#take(head[1] ?? "tool");
        else if (!isOther && this.#open[0]?.isTagged) result ??= this.#open.shift();
        if (!result || isOther) messages.push(...splitUserText(rest));
        else {
          const text = joinTexts([rest.replace(resultHead, ""), ...pictures.map(formatImage)]);
          pictures = [];
          messages.push(...this.#makeTextResult(result, text, head ? undefined : messages.at(-1)));
        }
      } else if (block.type === "image" && messages.length === 0 && this.#open.length > 0) pictures.push(block);
      else messages.push(...this.#readAttached(block, messages));
    }
    for (const picture of pictures) messages.push(...this.#readAttached(picture, messages));
    return messages;
  }

  /** A result in tags or of an MCP server may have another tool's name. */
  #take(name: string): TaskCall {
    const call =
      this.#open.find((open) => open.name === name) ??
      this.#open.find(({ isTagged }) => isTagged || name.includes("mcp"));
    this.#open = this.#open.filter((open) => open !== call);
    return call ?? { name };
  }

  #makeTextResult({ name, id, isSaid }: TaskCall, text: string, before: Message | undefined): Message[] {
    const { output, said } = readFeedback(text, name === "ask_followup_question");
    if (isSaid) return said;
    const isMore = isFields(before?.metadata?.result) && before.metadata.result.callId === id;
    if (isMore && before) {
      before.content = joinTexts([before.content, output]);
      return said;
    }
    return [makeToolResult(output, { callId: id, ...parseOutcome(output) }), ...said];
  }

  #readResult({ tool_use_id, content, is_error }: Fields): Message[] {
    const callId = asString(tool_use_id);
    this.#open = this.#open.filter(({ id }) => id !== callId);
    const text = this.#readOutput(content).replace(resultHead, "");
    const { output, said } = readFeedback(text, false);
    if (callId && this.#said.has(callId)) return said;
    const outcome = parseOutcome(output);
    return [makeToolResult(output, { callId, ...outcome, isError: is_error === true || outcome.isError }), ...said];
  }

  #readOutput(content: unknown): string {
    const isOwn = Array.isArray(content) && content.some((one) => !isFields(one) || one.type === undefined);
    return isOwn || isFields(content)
      ? JSON.stringify(content)
      : joinBlockTexts(content, (type) => this.#sink.unhandled(type));
  }

  /** A file becomes part of the message or result before it. */
  #readAttached(block: Fields, before: Message[]): Message[] {
    const source = isFields(block.source) ? block.source : block;
    const type = asString(source.media_type) ?? asString(source.mediaType);
    const name = asString(block.path) ?? asString(block.title);
    if (!["image", "document", "file"].includes(asString(block.type) ?? "")) {
      this.#sink.unhandled(`content.${asString(block.type) ?? "(none)"}`);
      return [];
    }
    const attachment = makeAttachment(type, name);
    const last = before.at(-1);
    if (last?.metadata?.result !== undefined) {
      last.content = joinTexts([last.content, formatImage(block)]);
      return [];
    }
    if (last?.role === "user" && last.metadata?.kind === undefined) {
      const known = Array.isArray(last.metadata?.attachments) ? last.metadata.attachments : [];
      const content = source.data && block.type === "image" ? `${last.content}\n${formatImage(block)}` : last.content;
      before[before.length - 1] = withMetadata({ ...last, content }, { attachments: [...known, attachment] });
      return [];
    }
    return [withAttachments({ role: "user", content: formatImage(block) }, [attachment])];
  }

  end(): void {
    const { usage, costUsd } = this.#requests.sumRemaining();
    if (costUsd) {
      this.#session.send([makeNotice("The last request had no answer.")], { usage, costUsd });
    } else if (usage) this.#session.addUsage(usage);
  }
}

const hasTags = (text: string): boolean =>
  /<(?:task|user_message|feedback|answer)>/.test(text) || /^\[(?:ERROR|TASK)/.test(text);

const taggedThought = /^\s*<thinking>([\s\S]*?)<\/thinking>\s*/;

function readText(text: string): Message[] {
  const [block = "", thought = ""] = taggedThought.exec(text) ?? [];
  const said = text.slice(block.length);
  return [...toThoughts(thought.trim()), ...toTexts("assistant", said)];
}

function readThoughts({ thinking: own, text, summary }: Fields): Message[] {
  const parts = listFields(summary).map((part) => part.text);
  return toThoughts(asString(own) ?? asString(text) ?? joinTexts(parts, "\n\n"));
}

function formatImage(block: Fields): string {
  const source = isFields(block.source) ? block.source : block;
  return formatData(asString(block.type) ?? "image", source.media_type ?? source.mediaType, source.data);
}

function parseOutcome(output: string): { isError: boolean; exitCode?: number } {
  const isError = /^\s*(?:The tool execution failed|Error executing\b|\{\s*"status"\s*:\s*"error")/.test(output);
  const [, code] =
    /^Command (?:executed successfully|failed|executed)[^\n]{0,80}? \(?(?:with )?exit code (\d{1,3})\b/.exec(output) ??
    [];
  return { isError, ...(code !== undefined && { exitCode: Number(code) }) };
}

/**
 * The input includes cached tokens; older versions count as their provider does.
 *
 * @param isDisplayed the display has the tokens, too
 */
function readMetrics({ metrics, modelInfo }: Fields, isDisplayed: boolean): RequestUsage | undefined {
  if (!isFields(metrics)) return undefined;
  const older = isFields(metrics.tokens) && !isDisplayed ? metrics.tokens : {};
  const own = asCount(metrics.inputTokens);
  const input = own ?? asCount(older.prompt);
  if (input === undefined) return undefined;
  const cacheReadTokens = asCount(metrics.cacheReadTokens) ?? asCount(older.cached) ?? 0;
  const cacheWriteTokens = asCount(metrics.cacheWriteTokens) ?? 0;
  const cached = cacheReadTokens + cacheWriteTokens;
  const provider = asFields(modelInfo).providerId;
  const isApart = own === undefined && provider !== undefined && !countsCacheAsInput(provider);
  return {
    usage: {
      inputTokens: isApart ? input : Math.max(0, input - cached),
      outputTokens: asCount(metrics.outputTokens) ?? asCount(older.completion) ?? 0,
      cacheReadTokens,
      cacheWriteTokens,
    },
    ...(typeof metrics.cost === "number" && { costUsd: metrics.cost }),
  };
}
