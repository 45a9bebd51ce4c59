import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { readAssistantBlocks, readUserBlocks, toBlocks } from "../blocks.ts";
import { toNotices } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { readAnthropicTokens, readTokens, type Usage } from "../usage.ts";
import { asFields, asString, joinTexts } from "../values.ts";
import { isStreamed, readStreamed } from "./stream.ts";

export const source = "droid";

const skippedTypes = new Set(["todo_state", "session_end"]);

export class DroidSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  #lastWords: string | undefined;
  /** The usage of completions, which counts if there are no settings. */
  readonly #completed: Usage[] = [];

  constructor(sink: Sink, id: string) {
    this.#sink = sink;
    this.#session = new SessionBuilder(sink, source, id);
  }

  add(record: Fields): void {
    const messages = this.#readMessages(record);
    if (messages?.length === 0) this.#sink.skipped();
    if (!messages) return;
    this.#lastWords = messages.findLast(isWords)?.content ?? this.#lastWords;
    const message = asFields(record.message);
    const model = message.role === "assistant" ? message.model : undefined;
    this.#session.send(messages, { at: record.timestamp, uuid: record.id, model });
  }

  #readMessages(record: Fields): Message[] | undefined {
    if (record.type === "completion") this.#noteUsage(record.usage);
    if (isStreamed(record)) return readStreamed(record, this.#lastWords);
    switch (record.type) {
      case "system":
        this.#session.noteFolder(record.cwd);
        this.#session.noteModel(record.model);
        return [];
      case "session_start":
        this.#noteStart(isFields(record.session) ? { ...record, ...record.session } : record);
        return [];
      case "compaction_state": {
        const { title, body } = isFields(record.summary) ? record.summary : ({ body: record.summary } as Fields);
        return toNotices(asString(record.summaryText) ?? joinTexts([title, body], "\n\n"));
      }
      case "message":
        return this.#readMessage(record.message);
      default:
        if (!skippedTypes.has(asString(record.type) ?? "")) this.#sink.unhandled(asString(record.type) ?? "(none)");
        return [];
    }
  }

  #noteStart(details: Fields): void {
    this.#session.noteFolder(details.cwd ?? details.workspace_root);
    this.#session.noteTitle(details.title);
    this.#session.noteTitle(details.sessionTitle);
    this.#session.noteTime(details.created_at ?? details.timestamp);
    this.#session.note("agentVersion", details.version);
    this.#session.note("parent", details.parent ?? details.callingSessionId);
  }

  #readMessage(message: unknown): Message[] | undefined {
    if (!isFields(message)) {
      this.#sink.invalid();
      return undefined;
    }
    if (message.role === "user") return readUserBlocks(message.content, this.#unhandled);
    if (message.role === "assistant") {
      const isResult = ({ type }: Fields) => type === "tool_result";
      return toBlocks(message.content).flatMap((block) =>
        isResult(block) ? readUserBlocks([block], this.#unhandled) : readAssistantBlocks([block], this.#unhandled),
      );
    }
    this.#sink.unhandled(`role.${asString(message.role) ?? "(none)"}`);
    return [];
  }

  #noteUsage(usage: unknown): void {
    if (!isFields(usage)) return;
    this.#completed.push(readAnthropicTokens(usage));
  }

  readonly #unhandled = (type: string) => this.#sink.unhandled(type);

  end(settings: unknown): void {
    if (isFields(settings)) this.#noteSettings(settings);
    if (!isFields(settings) || !isFields(settings.tokenUsage))
      for (const usage of this.#completed) this.#session.addUsage(usage);
    this.#session.end();
  }

  #noteSettings({ model, tokenUsage }: Fields): void {
    this.#session.noteModel(model);
    if (!isFields(tokenUsage)) return;
    const { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens, thinkingTokens } = tokenUsage;
    const reported = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens: cacheCreationTokens };
    this.#session.addUsage(readTokens({ ...reported, reasoningTokens: thinkingTokens }));
  }
}

const isWords = ({ role, metadata }: Message): boolean =>
  role === "assistant" && metadata?.kind === undefined && metadata?.tool === undefined;
