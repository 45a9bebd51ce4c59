import { publicRemote } from "../../lib/evidence/remotes.ts";
import type { Fields } from "../files/json.ts";
import type { Message, Sink } from "./adapter.ts";
import { GitEvidence } from "./git-evidence.ts";
import { notice, withMetadata } from "./messages.ts";
import { asCopy, type Usage, UsageCounter, withUsage } from "./usage.ts";
import { asString, asTimestamp, projectName, truncate } from "./values.ts";

/** What an entry tells beside its messages. Values of the wrong type are ignored. */
export type EntryFacts = {
  /** The entry's time: ISO 8601, or milliseconds since 1970. */
  at?: unknown;
  /** The model that answered. */
  model?: unknown;
  /** The tokens that the entry added. */
  usage?: Usage | undefined;
  /** What the agent recorded that the entry cost, in US dollars. */
  costUsd?: unknown;
  serviceTier?: unknown;
  requestId?: unknown;
  uuid?: unknown;
  stopReason?: unknown;
  /** Whether the entry was copied from the session that this one was forked from: it is counted there. */
  isReplayed?: boolean;
};

/** A fact of a session that is a text. */
type TextFact = "branch" | "agentVersion" | "parent" | "forkedFrom" | "continues";

type Metadata = { [name in TextFact | "cwd" | "repository"]?: string };

/** A session as `SessionBuilder.save` returns it. */
export type SavedSession = {
  id: string;
  usage: ReturnType<UsageCounter["save"]>;
  evidence: ReturnType<GitEvidence["save"]>;
  metadata: Metadata;
} & { [name in "model" | "createdAt" | "title"]?: string | undefined };

/** Builds one session. It begins with its first message, and ends with what was noted while it was read. */
export class SessionBuilder {
  readonly #sink: Sink;
  readonly #source: string;
  #usage = new UsageCounter();
  /** Sees every message; an adapter adds what its agent recorded itself. */
  evidence = new GitEvidence();
  #messages = 0;
  #model: string | undefined;
  #createdAt: string | undefined;
  #title: string | undefined;
  #costUsd: number | undefined;
  #metadata: Metadata = {};

  /** The `sourceId`; it may be changed until the first message is sent. */
  id: string;

  constructor(sink: Sink, source: string, id: string) {
    this.#sink = sink;
    this.#source = source;
    this.id = id;
  }

  /** What is known so far, as JSON. */
  save(): SavedSession {
    return {
      id: this.id,
      usage: this.#usage.save(),
      evidence: this.evidence.save(),
      metadata: this.#metadata,
      model: this.#model,
      createdAt: this.#createdAt,
      title: this.#title,
    };
  }

  /** Continues a session. @param messages how many it had when it was saved */
  resume({ id, usage, evidence, metadata, model, createdAt, title }: SavedSession, messages: number): void {
    this.id = id;
    this.#usage = new UsageCounter(usage);
    this.evidence = new GitEvidence(evidence);
    this.#metadata = metadata;
    this.#model = model;
    this.#createdAt = createdAt;
    this.#title = title;
    this.#messages = messages;
    if (metadata.cwd) this.#sink.folder(metadata.cwd);
    this.#sink.begin(this.#source, id, messages);
  }

  /** Whether a message was sent. */
  get isOpen(): boolean {
    return this.#messages > 0;
  }

  /** Notes a fact of the session under its key in docs/trace-format.md; the latest one counts. */
  note(key: TextFact, value: unknown): void {
    const text = asString(value);
    if (text) this.#metadata[key] = text;
  }

  /** Notes the folder in which the session began. */
  noteFolder(cwd: unknown): void {
    const path = asString(cwd);
    if (!path || this.#metadata.cwd !== undefined) return;
    this.#metadata.cwd = path;
    this.#sink.folder(path);
  }

  /** Notes the URL of the Git remote. */
  noteRepository(url: unknown): void {
    const remote = publicRemote(url);
    if (remote) this.#metadata.repository = remote;
  }

  /** Notes a title; the latest one counts. */
  noteTitle(title: unknown): void {
    this.#title = asString(title) ?? this.#title;
  }

  /** Notes a title that counts where there is no other. */
  suggestTitle(title: unknown): void {
    this.#title ??= asString(title);
  }

  /** Notes when something of the session happened; it was created at the earliest such time. */
  noteTime(at: unknown): void {
    // Most lines come in order, with their times in one form: those need no parsing.
    const isLater = typeof at === "string" && this.#createdAt?.length === at.length && at >= this.#createdAt;
    if (isLater && at.endsWith("Z") && this.#createdAt?.endsWith("Z")) return;
    const time = asTimestamp(at);
    if (time && (!this.#createdAt || Date.parse(time) < Date.parse(this.#createdAt))) this.#createdAt = time;
  }

  /** Notes the model that answers from now on. */
  noteModel(model: unknown): void {
    this.#model = asString(model) ?? this.#model;
  }

  /** Notes what the agent recorded that the session cost as a whole, in US dollars. */
  noteCost(costUsd: unknown): void {
    this.#costUsd = asAmount(costUsd);
  }

  /** Adds tokens to the session's total that no message names. */
  addUsage(usage: Usage): void {
    this.#usage.addOnce(usage);
  }

  /** Adds requests beside the conversation; those of another model than the session's stand with a notice, which names it. */
  addRequests(model: string | undefined, usage: Usage): void {
    const added = this.#usage.addOnce(usage);
    if (!added || !model || model === this.#model || !this.isOpen) return;
    const told = withMetadata(notice("Requests beside the conversation."), { model });
    this.#sendOne(withUsage(told, added));
  }

  /** Sends an entry's messages; the first of them bears the entry's facts, and the model where it changed. */
  send(messages: Message[], { isReplayed, ...told }: EntryFacts = {}): void {
    if (isReplayed) {
      const { at, model, uuid, requestId, serviceTier } = told;
      const used = told.usage && new UsageCounter().addOnce(told.usage);
      const replayed = messages.map((message, index) => asCopy(index === 0 ? withUsage(message, used) : message));
      this.#sendEntry(replayed, { at, model, uuid, requestId, serviceTier });
    } else {
      this.noteTime(told.at);
      this.#sendEntry(messages, told);
    }
  }

  #sendEntry(messages: Message[], { at, model, usage, ...facts }: EntryFacts): void {
    const isNewModel = asString(model) !== undefined && model !== this.#model;
    if (messages.length === 0) {
      if (usage) this.addUsage(usage);
      return;
    }
    this.noteModel(model);
    const added = usage && this.#usage.addOnce(usage);
    const createdAt = messages.every((message) => message.createdAt) ? undefined : asTimestamp(at);
    for (const [index, message] of messages.entries()) {
      const isFirst = index === 0;
      const named = isFirst
        ? withMetadata(message, { model: isNewModel ? model : undefined, ...listKnown(facts) })
        : message;
      const counted = isFirst ? withUsage(named, added) : named;
      this.#sendOne(createdAt && !counted.createdAt ? { ...counted, createdAt } : counted);
    }
  }

  #sendOne(message: Message): void {
    if (this.#messages === 0) this.#sink.begin(this.#source, this.id);
    this.evidence.see(message, this.#messages, message.metadata?.replayed === true);
    this.#messages++;
    this.#sink.message(message);
  }

  /** Ends the session, where it has messages. */
  end(): void {
    if (this.#messages === 0) return;
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
    const cost = this.#costUsd && this.#createdAt && { startedAt: this.#createdAt, costUsd: this.#costUsd };
    return {
      ...this.#metadata,
      ...this.evidence.details(),
      ...(Object.keys(total).length > 0 && { usage: total }),
      ...(cost && { costs: [cost] }),
    };
  }
}

const asAmount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;

const listKnown = ({ costUsd, ...texts }: Omit<EntryFacts, "at" | "model" | "usage" | "isReplayed">): Fields => ({
  costUsd: asAmount(costUsd),
  ...Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, asString(value)])),
});
