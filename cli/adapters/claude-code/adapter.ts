import { basename, dirname, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { type Fields, isFields, readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, Input, Message, SearchRoot, SessionDetails, Sink } from "../adapter.ts";
import {
  asCount,
  asString,
  asTimestamp,
  projectName,
  truncate,
  type Usage,
  UsageCounter,
  withMetadata,
  withUsage,
} from "../metadata.ts";
import { withoutCounts } from "../uncounted-sink.ts";
import { originalOf } from "./forks.ts";
import { messagesOf } from "./messages.ts";

const source = "claude-code";

/**
 * Claude Code: a file of JSON lines for each session and each sub-agent.
 *
 * - A message of the API comes as several lines with one `message.id`, each with the usage so far: each line adds what is
 *   new in it.
 * - Sub-agents have files of their own (`agent-….jsonl`); before, their lines stood among the session's (`isSidechain`).
 *   Both become sessions of their own that name their parent.
 * - A fork begins with its parent's history (`forkedFrom`, lines of another `sessionId`, or copies that nothing tells of: see
 *   claude-forks.ts): it is kept, and not counted.
 * - A summary at a file's beginning is of another session; the one that names a line of this file is its title.
 */
export const claudeCode: Adapter = {
  name: source,
  title: "Claude Code",
  version: 1,
  diagnose,
  async *discover(host) {
    for (const { path } of diagnose(host)) yield* findFiles(path, (name) => name.endsWith(".jsonl"));
  },
  async parse(input, sink) {
    const identity = identityOf(input);
    const hasSidechain = await parseOne(input, sink, identity, identity.isAgent ? "all" : "main");
    if (!hasSidechain) return;
    const sidechain = { ...identity, sourceId: `${identity.sourceId}/sidechain`, parent: identity.sourceId };
    await parseOne(input, withoutCounts(sink), sidechain, "side");
  },
};

function diagnose({ home, env }: Host): SearchRoot[] {
  const named = env.CLAUDE_CONFIG_DIR;
  if (named)
    return named.split(",").map((path) => ({ path: join(path.trim(), "projects"), from: "CLAUDE_CONFIG_DIR" }));
  return [{ path: join(home, ".claude", "projects") }, { path: join(home, ".config", "claude", "projects") }];
}

type Identity = { sourceId: string; isAgent: boolean; parent?: string };

/** A sub-agent's file stands beside its session's, or in the folder `SESSION/subagents`. */
function identityOf({ path }: Input): Identity {
  const name = basename(path, ".jsonl");
  if (!name.startsWith("agent-")) return { sourceId: name, isAgent: false };
  const folder = dirname(path);
  const parent = basename(folder) === "subagents" ? basename(dirname(folder)) : undefined;
  return { sourceId: name, isAgent: true, ...(parent && { parent }) };
}

/** @returns whether there are lines of a sidechain that were left out */
async function parseOne(
  input: Input,
  sink: Sink,
  identity: Identity,
  wanted: "main" | "side" | "all",
): Promise<boolean> {
  const session = new Session(sink, identity, wanted === "main" ? await originalOf(input.path) : undefined);
  let hasSidechain = false;
  await readRecords(input.path, sink, (record) => {
    const isSide = record.isSidechain === true;
    hasSidechain ||= isSide && (record.type === "user" || record.type === "assistant");
    if (wanted !== "all" && isSide !== (wanted === "side")) return;
    session.take(record);
  });
  session.end();
  return wanted === "main" && hasSidechain;
}

/** Lines that are none of the conversation. */
const known = new Set(
  `file-history-snapshot file-history-delta queue-operation progress last-prompt permission-mode mode agent-name agent-color agent-setting
  attachment attribution-snapshot content-replacement context-collapse-commit marble-origami-commit marble-origami-snapshot
  pr-link speculation-accept tag task-summary worktree-state bridge-session checkpoint`.split(/\s+/),
);

type Original = Awaited<ReturnType<typeof originalOf>>;

class Session {
  readonly #sink: Sink;
  readonly #identity: Identity;
  readonly #original: Original;
  readonly #usage = new UsageCounter();
  readonly #summaries = new Map<string, string>();
  #isOpen = false;
  #createdAt: string | undefined;
  #cwd: string | undefined;
  #branch: string | undefined;
  #version: string | undefined;
  #model: string | undefined;
  #forkedFrom: string | undefined;
  #lastUuid: string | undefined;
  #titles: { custom?: string | undefined; made?: string | undefined; summary?: string | undefined } = {};

  constructor(sink: Sink, identity: Identity, original: Original) {
    this.#sink = sink;
    this.#identity = identity;
    this.#original = original;
  }

  take(record: Fields): void {
    const type = asString(record.type) ?? "";
    switch (type) {
      case "user":
      case "assistant":
      case "system":
        this.#takeMessage(record);
        return;
      case "summary":
        this.#takeSummary(record);
        break;
      case "custom-title":
        this.#titles.custom = asString(record.customTitle) ?? this.#titles.custom;
        break;
      case "ai-title":
        this.#titles.made = asString(record.aiTitle) ?? this.#titles.made;
        break;
      default:
        if (!known.has(type)) this.#sink.unhandled(type || "(none)");
    }
    this.#sink.skipped();
  }

  #takeSummary({ summary, leafUuid }: Fields): void {
    if (typeof summary !== "string" || typeof leafUuid !== "string") return;
    if (leafUuid === this.#lastUuid) this.#titles.summary = summary;
    else this.#summaries.set(leafUuid, summary);
  }

  #takeMessage(record: Fields): void {
    this.#note(record);
    const messages = messagesOf(record, (type) => this.#sink.unhandled(type));
    if (messages === undefined) this.#sink.invalid();
    else if (messages.length === 0) this.#sink.skipped();
    else this.#say(messages, record);
  }

  #say(messages: Message[], record: Fields): void {
    const replayedFrom = this.#replayedFrom(record);
    const createdAt = asTimestamp(record.timestamp);
    const [model, usage] = replayedFrom ? [] : this.#costOf(record);
    this.#open(record);
    for (const [index, message] of messages.entries()) {
      const costed = index === 0 ? withMetadata(withUsage(message, usage), { model }) : message;
      const told = replayedFrom ? withMetadata(costed, { replayed: true }) : costed;
      this.#sink.message(createdAt ? { ...told, createdAt } : told);
    }
  }

  #note(record: Fields): void {
    this.#createdAt ??= asTimestamp(record.timestamp);
    this.#cwd ??= asString(record.cwd);
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

  /** The model of a line where it is another one than before, and what the line adds to the session's usage. */
  #costOf({ message, requestId, uuid }: Fields): [model?: string | undefined, usage?: Usage | undefined] {
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
    this.#isOpen = true;
    const { isAgent, sourceId } = this.#identity;
    if (isAgent) this.#identity.parent ??= asString(sessionId) ?? "";
    this.#sink.begin(source, isAgent && this.#identity.parent ? `${this.#identity.parent}/${sourceId}` : sourceId);
  }

  end(): void {
    if (!this.#isOpen) return;
    const { custom, made, summary } = this.#titles;
    const title = custom ?? made ?? summary;
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
