import type { Fields } from "../files/json.ts";
import type { Message, Sink } from "./adapter.ts";
import { withMetadata } from "./messages.ts";
import { type Usage, UsageCounter, withUsage } from "./usage.ts";
import { asString, asTimestamp, projectName, truncate } from "./values.ts";

/** What an entry tells beside its messages. Values of the wrong type are ignored. */
export type EntryFacts = {
  /** The entry's time: ISO 8601, or milliseconds since 1970. */
  at?: unknown;
  /** The model that answered. */
  model?: unknown;
  /** The tokens that the entry added. */
  usage?: Usage | undefined;
};

/** Builds one session. It begins with its first message, and ends with what was noted while it was read. */
export class SessionBuilder {
  readonly #sink: Sink;
  readonly #source: string;
  readonly #usage = new UsageCounter();
  #entries = 0;
  #isOpen = false;
  #model: string | undefined;
  #createdAt: string | undefined;
  #title: string | undefined;
  readonly #metadata: Record<string, string> = {};

  /** The `sourceId`; it may be changed until the first message is sent. */
  id: string;

  constructor(sink: Sink, source: string, id: string) {
    this.#sink = sink;
    this.#source = source;
    this.id = id;
  }

  /** Notes a fact of the session under its key in docs/trace-format.md; the latest one counts. */
  note(key: "branch" | "agentVersion" | "parent" | "forkedFrom", value: unknown): void {
    const text = asString(value);
    if (text) this.#metadata[key] = text;
  }

  /** Notes the folder in which the session began. */
  noteFolder(cwd: unknown): void {
    const path = asString(cwd);
    if (path) this.#metadata.cwd ??= path;
  }

  /** Notes a title; the latest one counts. */
  noteTitle(title: unknown): void {
    this.#title = asString(title) ?? this.#title;
  }

  /** Notes when something of the session happened; it was created at the earliest such time. */
  noteTime(at: unknown): void {
    const time = asTimestamp(at);
    if (time && (!this.#createdAt || Date.parse(time) < Date.parse(this.#createdAt))) this.#createdAt = time;
  }

  /** Notes the model that answers from now on. */
  noteModel(model: unknown): void {
    this.#model = asString(model) ?? this.#model;
  }

  /** Adds tokens to the session's total that no message names. */
  addUsage(usage: Usage): void {
    this.#usage.add(`total-${this.#entries++}`, usage);
  }

  /** Sends an entry's messages; the first of them names the model, where it changed, and the entry's usage. */
  send(messages: Message[], { at, model, usage }: EntryFacts = {}): void {
    this.noteTime(at);
    const isNewModel = asString(model) !== undefined && model !== this.#model;
    if (messages.length === 0) {
      if (usage) this.addUsage(usage);
      return;
    }
    this.noteModel(model);
    if (!this.#isOpen) this.#sink.begin(this.#source, this.id);
    this.#isOpen = true;
    const added = usage && this.#usage.add(`entry-${this.#entries++}`, usage);
    const createdAt = asTimestamp(at);
    for (const [index, message] of messages.entries()) {
      const named = withMetadata(message, { model: index === 0 && isNewModel ? model : undefined });
      const counted = index === 0 ? withUsage(named, added) : named;
      this.#sink.message(createdAt && !counted.createdAt ? { ...counted, createdAt } : counted);
    }
  }

  /** Ends the session, where it has messages. */
  end(): void {
    if (!this.#isOpen) return;
    const project = projectName(this.#metadata.cwd);
    this.#sink.end({
      ...(this.#model && { model: truncate(this.#model, 256) }),
      ...(this.#title && { title: truncate(this.#title, 512) }),
      ...(project && { project }),
      ...(this.#createdAt && { createdAt: this.#createdAt }),
      metadata: this.#details(),
    });
  }

  #details(): Fields {
    const { total } = this.#usage;
    return { ...this.#metadata, ...(Object.keys(total).length > 0 && { usage: total }) };
  }
}
