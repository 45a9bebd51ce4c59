import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { makeNotice } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";
import { GeminiMessages } from "./messages.ts";

export const source = "gemini-cli";

export type RecordingIdentity = { sourceId: string; sessionId: string; parent?: string; continues?: string };

export class GeminiSession {
  readonly #session: SessionBuilder;
  readonly #messages: GeminiMessages;

  constructor(
    sink: Sink,
    meta: Fields,
    { sourceId, sessionId, parent, continues }: RecordingIdentity,
    folder: string | undefined,
  ) {
    this.#session = new SessionBuilder(sink, source, sourceId);
    this.#messages = new GeminiMessages(sessionId, (type) => sink.unhandled(type));
    this.#session.noteFolder(folder);
    // A session lists only folders that were added.
    if (meta.kind === "subagent" && Array.isArray(meta.directories)) this.#session.noteFolder(meta.directories[0]);
    this.#session.noteTime(meta.startTime);
    this.#session.noteTitle(meta.summary);
    this.#session.note("parent", parent);
    this.#session.note("continues", continues);
  }

  add(record: Fields): void {
    const messages = record.type === "rewind" ? [makeRewindNotice(record.turns)] : this.#messages.read(record);
    this.#session.send(messages, {
      at: record.timestamp,
      model: messages.length > 0 ? record.model : undefined,
      usage: isFields(record.tokens) ? readUsage(record.tokens) : undefined,
      uuid: asString(record.id),
    });
  }

  end(): void {
    this.#session.end();
  }
}

const makeRewindNotice = (turns: unknown): Message =>
  makeNotice(turns === 1 ? "The last turn was taken back." : `The last ${Number(turns)} turns were taken back.`);

function readUsage(tokens: Fields): Usage {
  const {
    inputTokens = 0,
    outputTokens = 0,
    reasoningTokens = 0,
    ...cached
  } = readTokens(
    {
      inputTokens: tokens.input,
      outputTokens: tokens.output,
      cacheReadTokens: tokens.cached,
      reasoningTokens: tokens.thoughts,
    },
    { includesCache: true },
  );
  return {
    inputTokens: inputTokens + (asCount(tokens.tool) ?? 0),
    outputTokens: outputTokens + reasoningTokens,
    reasoningTokens,
    ...cached,
  };
}
