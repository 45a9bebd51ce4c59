import { publicRemote } from "../../common/evidence/remotes.ts";
import type { Fields } from "../files/json.ts";
import type { Message, Sink } from "./adapter.ts";
import { GitEvidence } from "./git-evidence.ts";
import { makeNotice, withMetadata } from "./messages.ts";
import { asCopy, type Usage, UsageCounter, withUsage } from "./usage.ts";
import { asAmount, asString, asTimestamp, getProjectName, truncate } from "./values.ts";

/** The builder ignores values of the wrong type. */
export type EntryFacts = {
  /** ISO 8601, or milliseconds since 1970. */
  at?: unknown;
  model?: unknown;
  usage?: Usage | undefined;
  costUsd?: unknown;
  serviceTier?: unknown;
  requestId?: unknown;
  uuid?: unknown;
  stopReason?: unknown;
  /** The original session counts a copied entry. */
  isReplayed?: boolean;
};

type TextFact = "agent" | "branch" | "agentVersion" | "parent" | "forkedFrom" | "continues";

type Metadata = { [name in TextFact | "cwd" | "repository"]?: string };

export type SavedBuilder = {
  id: string;
  usage: ReturnType<UsageCounter["save"]>;
  evidence: ReturnType<GitEvidence["save"]>;
  metadata: Metadata;
} & { [name in "model" | "createdAt" | "title"]?: string | undefined };

/** Begins the session with its first message, and adds what was noted at its end. */
export class SessionBuilder {
  readonly #sink: Sink;
  readonly #source: string;
  #usage = new UsageCounter();
  evidence = new GitEvidence();
  #messages = 0;
  #model: string | undefined;
  #createdAt: string | undefined;
  #title: string | undefined;
  #costUsd: number | undefined;
  #metadata: Metadata = {};

  /** The `sourceId`, which may be changed until the first message is sent. */
  id: string;

  constructor(sink: Sink, source: string, id: string) {
    this.#sink = sink;
    this.#source = source;
    this.id = id;
  }

  save(): SavedBuilder {
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

  resume({ id, usage, evidence, metadata, model, createdAt, title }: SavedBuilder, messages: number): void {
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

  get isOpen(): boolean {
    return this.#messages > 0;
  }

  note(key: TextFact, value: unknown): void {
    const text = asString(value);
    if (text) this.#metadata[key] = text;
  }

  noteFolder(cwd: unknown): void {
    const path = asString(cwd);
    if (!path || this.#metadata.cwd !== undefined) return;
    this.#metadata.cwd = path;
    this.#sink.folder(path);
  }

  noteRepository(url: unknown): void {
    const remote = publicRemote(url);
    if (remote) this.#metadata.repository = remote;
  }

  noteTitle(title: unknown): void {
    this.#title = asString(title) ?? this.#title;
  }

  suggestTitle(title: unknown): void {
    this.#title ??= asString(title);
  }

  noteTime(at: unknown): void {
    // Most lines come in order, with their times in one form, and need no parsing.
    const isLater = typeof at === "string" && this.#createdAt?.length === at.length && at >= this.#createdAt;
    if (isLater && at.endsWith("Z") && this.#createdAt?.endsWith("Z")) return;
    const time = asTimestamp(at);
    if (time && (!this.#createdAt || Date.parse(time) < Date.parse(this.#createdAt))) this.#createdAt = time;
  }

  noteModel(model: unknown): void {
    this.#model = asString(model) ?? this.#model;
  }

  noteCost(costUsd: unknown): void {
    this.#costUsd = asAmount(costUsd);
  }

  addUsage(usage: Usage): void {
    this.#usage.addOnce(usage);
  }

  addRequests(model: string | undefined, usage: Usage): void {
    const added = this.#usage.addOnce(usage);
    if (!added || !model || model === this.#model || !this.isOpen) return;
    const message = withMetadata(makeNotice("Requests beside the conversation."), { model });
    this.#sendOne(withUsage(message, added));
  }

  /** Sends an entry's messages, and counts the entry as skipped if there are none. */
  add(messages: Message[], facts?: EntryFacts): void {
    if (messages.length === 0) this.#sink.skipped();
    this.send(messages, facts);
  }

  /** The first message gets the entry's facts. */
  send(messages: Message[], { isReplayed, ...facts }: EntryFacts = {}): void {
    if (isReplayed) {
      const { at, model, uuid, requestId, serviceTier } = facts;
      const used = facts.usage && new UsageCounter().addOnce(facts.usage);
      const replayed = messages.map((message, index) => asCopy(index === 0 ? withUsage(message, used) : message));
      this.#sendEntry(replayed, { at, model, uuid, requestId, serviceTier });
    } else {
      this.noteTime(facts.at);
      this.#sendEntry(messages, facts);
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

  end(): void {
    if (this.#messages === 0) return;
    const project = getProjectName(this.#metadata.cwd);
    this.#sink.end({
      ...(this.#model && { model: truncate(this.#model, 256) }),
      ...(this.#title && { title: truncate(this.#title, 512) }),
      ...(project && { project }),
      ...(this.#createdAt && { createdAt: this.#createdAt }),
      metadata: this.#makeDetails(),
    });
  }

  #makeDetails(): Fields {
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

const listKnown = ({ costUsd, ...texts }: Omit<EntryFacts, "at" | "model" | "usage" | "isReplayed">): Fields => ({
  costUsd: asAmount(costUsd),
  ...Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, asString(value)])),
});
