import { type Fields, isFields } from "../../files/json.ts";
import type { Message, SessionDetails, Sink } from "../adapter.ts";
import { withMetadata } from "../messages.ts";
import { type Usage, UsageCounter, withUsage } from "../usage.ts";
import { asCount, asString, asTimestamp, projectName, truncate } from "../values.ts";
import type { Original } from "./forks.ts";
import { messagesOf } from "./messages.ts";

export const source = "claude-code";

export type Identity = { sourceId: string; isAgent: boolean; parent?: string };

/** Types of lines that belong to no message. */
const skippedTypes = new Set(
  `file-history-snapshot file-history-delta queue-operation progress last-prompt permission-mode mode agent-name agent-color agent-setting
  attachment attribution-snapshot content-replacement context-collapse-commit marble-origami-commit marble-origami-snapshot
  pr-link speculation-accept tag task-summary worktree-state bridge-session checkpoint`.split(/\s+/),
);

type Titles = { custom?: string | undefined; generated?: string | undefined; summary?: string | undefined };

/** A session as `ClaudeSession.save` returns it. */
type SavedSession = {
  usage: ReturnType<UsageCounter["save"]>;
  summaries: [string, string][];
  titles: Titles;
} & { [name in "parent" | "createdAt" | "cwd" | "branch" | "version" | "model" | "forkedFrom" | "lastUuid"]?: string };

/** Builds one session from the lines of a file. */
export class ClaudeSession {
  readonly #sink: Sink;
  readonly #identity: Identity;
  readonly #original: Original | undefined;
  #usage = new UsageCounter();
  #summaries = new Map<string, string>();
  #isOpen = false;
  #createdAt: string | undefined;
  #cwd: string | undefined;
  #branch: string | undefined;
  #version: string | undefined;
  #model: string | undefined;
  #forkedFrom: string | undefined;
  #lastUuid: string | undefined;
  #titles: Titles = {};

  constructor(sink: Sink, identity: Identity, original: Original | undefined) {
    this.#sink = sink;
    this.#identity = identity;
    this.#original = original;
  }

  /** What is known so far, as JSON; undefined for a session that can't be continued. */
  save(): Fields | undefined {
    if (!this.#isOpen || this.#original) return undefined;
    return {
      usage: this.#usage.save(),
      summaries: [...this.#summaries],
      parent: this.#identity.parent,
      createdAt: this.#createdAt,
      cwd: this.#cwd,
      branch: this.#branch,
      version: this.#version,
      model: this.#model,
      forkedFrom: this.#forkedFrom,
      lastUuid: this.#lastUuid,
      titles: this.#titles,
    };
  }

  /** Continues a session. @param saved what `save` returned @param messages how many it had then */
  resume(saved: Fields, messages: number): void {
    const state = saved as SavedSession;
    this.#usage = new UsageCounter(state.usage);
    this.#summaries = new Map(state.summaries);
    if (state.parent !== undefined) this.#identity.parent = state.parent;
    this.#createdAt = state.createdAt;
    this.#noteFolder(state.cwd);
    this.#branch = state.branch;
    this.#version = state.version;
    this.#model = state.model;
    this.#forkedFrom = state.forkedFrom;
    this.#lastUuid = state.lastUuid;
    this.#titles = state.titles;
    this.#begin(messages);
  }

  add(record: Fields): void {
    const type = asString(record.type) ?? "";
    switch (type) {
      case "user":
      case "assistant":
      case "system":
        this.#addMessage(record);
        return;
      case "summary":
        this.#addSummary(record);
        break;
      case "custom-title":
        this.#titles.custom = asString(record.customTitle) ?? this.#titles.custom;
        break;
      case "ai-title":
        this.#titles.generated = asString(record.aiTitle) ?? this.#titles.generated;
        break;
      default:
        if (!skippedTypes.has(type)) this.#sink.unhandled(type || "(none)");
    }
    this.#sink.skipped();
  }

  #noteFolder(cwd: string | undefined): void {
    if (cwd === undefined || this.#cwd !== undefined) return;
    this.#cwd = cwd;
    this.#sink.folder(cwd);
  }

  #addSummary({ summary, leafUuid }: Fields): void {
    if (typeof summary !== "string" || typeof leafUuid !== "string") return;
    if (leafUuid === this.#lastUuid) this.#titles.summary = summary;
    else this.#summaries.set(leafUuid, summary);
  }

  #addMessage(record: Fields): void {
    this.#updateDetails(record);
    const messages = messagesOf(record, (type) => this.#sink.unhandled(type));
    if (messages === undefined) this.#sink.invalid();
    else if (messages.length === 0) this.#sink.skipped();
    else this.#send(messages, record);
  }

  #send(messages: Message[], record: Fields): void {
    const replayedFrom = this.#replayedFrom(record);
    const createdAt = asTimestamp(record.timestamp);
    const [model, usage] = replayedFrom ? [] : this.#readCost(record);
    this.#open(record);
    for (const [index, message] of messages.entries()) {
      const withCost = index === 0 ? withMetadata(withUsage(message, usage), { model }) : message;
      const complete = replayedFrom ? withMetadata(withCost, { replayed: true }) : withCost;
      this.#sink.message(createdAt ? { ...complete, createdAt } : complete);
    }
  }

  #updateDetails(record: Fields): void {
    this.#createdAt ??= asTimestamp(record.timestamp);
    this.#noteFolder(asString(record.cwd));
    this.#branch = asString(record.gitBranch) ?? this.#branch;
    this.#version = asString(record.version) ?? this.#version;
    const uuid = asString(record.uuid);
    if (!uuid) return;
    this.#lastUuid = uuid;
    const summary = this.#summaries.get(uuid);
    if (summary !== undefined) this.#titles.summary = summary;
  }

  #replayedFrom({ forkedFrom, sessionId, uuid }: Fields): string | undefined {
    const named = isFields(forkedFrom) ? asString(forkedFrom.sessionId) : undefined;
    const own = this.#identity.isAgent || this.#identity.parent ? undefined : this.#identity.sourceId;
    const other = own && typeof sessionId === "string" && isUuid(own) && sessionId !== own ? sessionId : undefined;
    const copied = typeof uuid === "string" && this.#original?.uuids.has(uuid) ? this.#original.sourceId : undefined;
    const from = named ?? other ?? copied;
    this.#forkedFrom ??= from;
    return from;
  }

  /** A line's model, where it has changed, and what the line adds to the session's usage. */
  #readCost({ message, requestId, uuid }: Fields): [model?: string | undefined, usage?: Usage | undefined] {
    if (!isFields(message)) return [];
    const model = asString(message.model);
    const isNew = model !== undefined && model !== "<synthetic>" && model !== this.#model;
    if (isNew) this.#model = model;
    const id = asString(message.id) ?? asString(requestId) ?? asString(uuid) ?? "";
    const usage = isFields(message.usage) ? this.#usage.add(id, readUsage(message.usage)) : undefined;
    return [isNew ? model : undefined, usage];
  }

  #open({ sessionId }: Fields): void {
    if (this.#isOpen) return;
    if (this.#identity.isAgent) this.#identity.parent ??= asString(sessionId) ?? "";
    this.#begin();
  }

  #begin(messages?: number): void {
    this.#isOpen = true;
    const { isAgent, sourceId, parent } = this.#identity;
    this.#sink.begin(source, isAgent && parent ? `${parent}/${sourceId}` : sourceId, messages);
  }

  end(): void {
    if (!this.#isOpen) return;
    const { custom, generated, summary } = this.#titles;
    const title = custom ?? generated ?? summary;
    const project = projectName(this.#cwd);
    const ending: SessionDetails = {
      ...(this.#model && { model: truncate(this.#model, 256) }),
      ...(title && { title: truncate(title, 512) }),
      ...(project && { project }),
      ...(this.#createdAt && { createdAt: this.#createdAt }),
      metadata: this.#metadata(),
    };
    this.#sink.end(ending);
  }

  #metadata(): Fields {
    const { parent } = this.#identity;
    return {
      ...(this.#cwd && { cwd: this.#cwd }),
      ...(this.#branch && { branch: this.#branch }),
      ...(this.#version && { agentVersion: this.#version }),
      ...(parent && { parent }),
      ...(this.#forkedFrom && { forkedFrom: this.#forkedFrom }),
      ...(Object.keys(this.#usage.total).length > 0 && { usage: this.#usage.total }),
    };
  }
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

function readUsage(usage: Fields): Usage {
  return {
    inputTokens: asCount(usage.input_tokens) ?? 0,
    outputTokens: asCount(usage.output_tokens) ?? 0,
    cacheReadTokens: asCount(usage.cache_read_input_tokens) ?? 0,
    cacheWriteTokens: asCount(usage.cache_creation_input_tokens) ?? 0,
  };
}
