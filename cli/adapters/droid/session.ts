import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { assistantMessages, toBlocks, userBlocks } from "../blocks.ts";
import { notice } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";
import { isStreamed, streamedMessages } from "./stream.ts";

export const source = "droid";

const skippedTypes = new Set(["todo_state", "session_end"]);

/** Builds one session from the lines of a file and the settings beside it. */
export class DroidSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  #lastWords: string | undefined;
  /** What completions tell; the settings, where there are some, tell it of the whole session. */
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
    const message = isFields(record.message) ? record.message : {};
    const model = message.role === "assistant" ? message.model : undefined;
    this.#session.send(messages, { at: record.timestamp, uuid: record.id, model });
  }

  #readMessages(record: Fields): Message[] | undefined {
    if (record.type === "completion") this.#noteUsage(record.usage);
    if (isStreamed(record)) return streamedMessages(record, this.#lastWords);
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
        const summary = asString(record.summaryText) ?? [title, body].map(asString).filter(Boolean).join("\n\n");
        return summary ? [notice(summary)] : [];
      }
      case "message":
        return this.#message(record.message);
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

  #message(message: unknown): Message[] | undefined {
    if (!isFields(message)) {
      this.#sink.invalid();
      return undefined;
    }
    if (message.role === "user") return userBlocks(message.content, this.#unhandled);
    if (message.role === "assistant") {
      // A result may stand in the message of its call.
      const isResult = ({ type }: Fields) => type === "tool_result";
      return toBlocks(message.content).flatMap((block) =>
        isResult(block) ? userBlocks([block], this.#unhandled) : assistantMessages([block], this.#unhandled),
      );
    }
    this.#sink.unhandled(`role.${asString(message.role) ?? "(none)"}`);
    return [];
  }

  #noteUsage(usage: unknown): void {
    if (!isFields(usage)) return;
    this.#completed.push({
      inputTokens: asCount(usage.input_tokens) ?? 0,
      outputTokens: asCount(usage.output_tokens) ?? 0,
      cacheReadTokens: asCount(usage.cache_read_input_tokens) ?? 0,
      cacheWriteTokens: asCount(usage.cache_creation_input_tokens) ?? 0,
    });
  }

  readonly #unhandled = (type: string) => this.#sink.unhandled(type);

  /** Ends the session. @param settings of `ID.settings.json`: the model, and the tokens of the whole session */
  end(settings: unknown): void {
    if (isFields(settings)) this.#noteSettings(settings);
    if (!isFields(settings) || !isFields(settings.tokenUsage))
      for (const usage of this.#completed) this.#session.addUsage(usage);
    this.#session.end();
  }

  #noteSettings({ model, tokenUsage }: Fields): void {
    this.#session.noteModel(model);
    if (!isFields(tokenUsage)) return;
    this.#session.addUsage({
      inputTokens: asCount(tokenUsage.inputTokens) ?? 0,
      outputTokens: asCount(tokenUsage.outputTokens) ?? 0,
      cacheReadTokens: asCount(tokenUsage.cacheReadTokens) ?? 0,
      cacheWriteTokens: asCount(tokenUsage.cacheCreationTokens) ?? 0,
      reasoningTokens: asCount(tokenUsage.thinkingTokens) ?? 0,
    });
  }
}

const isWords = ({ role, metadata }: Message): boolean =>
  role === "assistant" && metadata?.kind === undefined && metadata?.tool === undefined;
