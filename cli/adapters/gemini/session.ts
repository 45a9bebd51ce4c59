import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { notice, withMetadata } from "../messages.ts";
import { type Usage, UsageCounter, withUsage } from "../usage.ts";
import { asCount, asString, asTimestamp, projectName, truncate } from "../values.ts";
import { GeminiMessages } from "./messages.ts";

export const source = "gemini-cli";

export type Identity = { sourceId: string; sessionId: string; parent?: string };

/** Builds one session from the records of a recording. */
export class GeminiSession {
  readonly #sink: Sink;
  readonly #meta: Fields;
  readonly #identity: Identity;
  readonly #messages: GeminiMessages;
  readonly #usage = new UsageCounter();
  #isOpen = false;
  #model: string | undefined;
  #createdAt: string | undefined;

  constructor(sink: Sink, meta: Fields, identity: Identity) {
    this.#sink = sink;
    this.#meta = meta;
    this.#identity = identity;
    this.#messages = new GeminiMessages(identity.sessionId, (type) => sink.unhandled(type));
    this.#createdAt = asTimestamp(meta.startTime);
  }

  add(record: Fields): void {
    const createdAt = asTimestamp(record.timestamp);
    const messages = record.type === "rewind" ? [rewindNotice(record.turns)] : this.#messages.ofRecord(record);
    const usage = isFields(record.tokens)
      ? this.#usage.add(asString(record.id) ?? "", readUsage(record.tokens))
      : undefined;
    const model = asString(record.model);
    const isNewModel = model !== undefined && model !== this.#model && messages.length > 0;
    if (isNewModel) this.#model = model;
    this.#createdAt ??= createdAt;
    for (const [index, message] of messages.entries()) {
      const complete =
        index === 0 ? withMetadata(withUsage(message, usage), { model: isNewModel ? model : undefined }) : message;
      this.#send(createdAt ? { createdAt, ...complete } : complete);
    }
  }

  #send(message: Message): void {
    if (!this.#isOpen) this.#sink.begin(source, this.#identity.sourceId);
    this.#isOpen = true;
    this.#sink.message(message);
  }

  end(folder: string | undefined): void {
    if (!this.#isOpen) return;
    const { summary, directories, kind } = this.#meta;
    const [first] = kind === "subagent" && Array.isArray(directories) ? directories : [];
    const cwd = folder ?? asString(first);
    const project = projectName(cwd);
    const title = asString(summary);
    const { parent } = this.#identity;
    this.#sink.end({
      ...(this.#model && { model: truncate(this.#model, 256) }),
      ...(title && { title: truncate(title, 512) }),
      ...(project && { project }),
      ...(this.#createdAt && { createdAt: this.#createdAt }),
      metadata: {
        ...(cwd && { cwd }),
        ...(parent && { parent }),
        ...(Object.keys(this.#usage.total).length > 0 && { usage: this.#usage.total }),
      },
    });
  }
}

const rewindNotice = (turns: unknown): Message =>
  notice(turns === 1 ? "The last turn was taken back." : `The last ${Number(turns)} turns were taken back.`);

/** `input` includes cached tokens; `output` excludes thoughts. */
function readUsage(tokens: Fields): Usage {
  const [input = 0, output = 0, cached = 0, thoughts = 0, tool = 0] = [
    tokens.input,
    tokens.output,
    tokens.cached,
    tokens.thoughts,
    tokens.tool,
  ].map((value) => asCount(value) ?? 0);
  return {
    inputTokens: Math.max(0, input - cached) + tool,
    outputTokens: output + thoughts,
    cacheReadTokens: cached,
    reasoningTokens: thoughts,
  };
}
