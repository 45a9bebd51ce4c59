import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { makeNotice, withMetadata } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asString, asTimestamp } from "../values.ts";
import { DelayedMessages } from "./delayed-messages.ts";
import { Echoes } from "./echoes.ts";
import { readNotices, readStartedAgent } from "./events.ts";
import { ForkGate, readLineFacts } from "./fork-gate.ts";
import { readAgentMessages, readItem } from "./items.ts";
import { findTask, getAgentPath, getParentId, makeAgentTitle } from "./parents.ts";
import { type RolloutFacts, RolloutRequests } from "./requests.ts";
import { readCommand, ScriptRuns } from "./script-runs.ts";
import type { TokenLedger } from "./token-ledger.ts";
import { isAbortNote, readEnvironmentFolder } from "./user-text.ts";

export const source = "codex-cli";

type Ancestry = {
  parentTurns?: ReadonlySet<string> | undefined;
  /** Copied usage counts if no other session has it. */
  countsCopies: boolean;
};

type SavedRollout = {
  session: ReturnType<SessionBuilder["save"]>;
  ledger: ReturnType<TokenLedger["save"]>;
  held: ReturnType<DelayedMessages["save"]>;
  scripts: ReturnType<ScriptRuns["save"]>;
} & RolloutFacts;

type RolloutLine = { at: string | undefined; isReplayed: boolean };

export class Rollout {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #page: string | undefined;
  readonly #ancestry: Ancestry;
  readonly #echoes = new Echoes();
  readonly #delayed: DelayedMessages;
  readonly #requests: RolloutRequests;
  #scripts = new ScriptRuns();
  #gate: ForkGate | undefined;
  #isReplaying = false;
  #facts: RolloutFacts = {};
  #meta: Fields | undefined;
  #hasAbortNote = false;

  /** @param name `rollout-TIME-ID`, or `rollout-TIME-ID_PAGE` for a resumed thread */
  constructor(sink: Sink, name: string, ancestry: Ancestry = { countsCopies: true }) {
    this.#sink = sink;
    const [, id = name, page] = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_([0-9a-f-]{36}))?$/i.exec(name) ?? [];
    this.#page = page;
    this.#ancestry = ancestry;
    this.#session = new SessionBuilder(sink, source, id);
    this.#delayed = new DelayedMessages(this.#session);
    this.#requests = new RolloutRequests(this.#delayed, ancestry.countsCopies);
  }

  /** Undefined while something waits for later lines. */
  save(): Fields | undefined {
    const isWaiting = this.#delayed.hasAnswer || this.#echoes.isWaiting || this.#scripts.isRunning || this.#isReplaying;
    if (!this.#session.isOpen || isWaiting) return undefined;
    return {
      session: this.#session.save(),
      ledger: this.#requests.save(),
      held: this.#delayed.save(),
      scripts: this.#scripts.save(),
      ...this.#facts,
    };
  }

  resume(saved: Fields, messages: number): void {
    const { session, ledger, held: delayed, scripts, ...facts } = saved as SavedRollout;
    this.#requests.resume(ledger);
    this.#scripts = new ScriptRuns(scripts);
    this.#delayed.resume(delayed, messages);
    this.#facts = facts;
    this.#meta = {};
    this.#session.resume(session, messages);
  }

  add(record: Fields): void {
    const { type, payload, timestamp } = record;
    const at = asTimestamp(timestamp);
    if (!isFields(payload)) {
      this.#count(payload === undefined ? this.#addBareLine(record, at) : undefined);
      return;
    }
    const facts = readLineFacts(record, payload, at);
    this.#isReplaying = this.#gate?.replays(facts) ?? false;
    if (type !== "response_item") this.#facts.turn = facts.turnId ?? this.#facts.turn;
    this.#count(this.#addLine(type, payload, { at, isReplayed: this.#isReplaying }));
  }

  /** @param isSent whether the line became a message; undefined if it is invalid */
  #count(isSent: boolean | undefined): void {
    if (isSent === undefined) this.#sink.invalid();
    else if (!isSent) this.#sink.skipped();
  }

  #addLine(type: unknown, payload: Fields, line: RolloutLine): boolean | undefined {
    switch (type) {
      case "session_meta":
        return this.#addMeta(payload, line.at);
      case "turn_context":
        this.#session.noteFolder(line.isReplayed ? undefined : payload.cwd);
        this.#noteSettings(payload, "service_tier" in payload);
        return false;
      case "response_item":
        return this.#addItem(payload, line);
      case "inter_agent_communication":
        return this.#delayAll(readAgentMessages(payload, this.#unhandled, this.#facts.agentPath), line);
      case "compacted":
        return this.#delayAll(
          [makeNotice(asString(payload.message) ?? "The conversation so far was compacted.")],
          line,
        );
      case "event_msg":
        return this.#addEvent(payload, line);
      case "token_usage_record":
        return this.#requests.addRecord(payload, this.#knownAt(line));
      case "world_state":
      case "inter_agent_communication_metadata":
      case "realtime_item":
      case "retained_context":
      case "security_risk_score":
        return false;
      default:
        this.#sink.unhandled(asString(type) ?? "(none)");
        return false;
    }
  }

  readonly #unhandled = (type: string) => this.#sink.unhandled(type);

  #addBareLine(record: Fields, at: string | undefined): boolean | undefined {
    if (record.record_type !== undefined) return false;
    if (record.type !== undefined) return this.#addItem(record, { at, isReplayed: false });
    return asString(record.id) === undefined
      ? undefined
      : this.#addMeta({ ...record, timestamp: record.timestamp ?? at }, at);
  }

  #addMeta(meta: Fields, at: string | undefined): false {
    const id = asString(meta.id) ?? asString(meta.session_id);
    const created = asTimestamp(meta.timestamp) ?? at;
    if (this.#meta) {
      // The second meta line names the parent; the last one before any message names the root.
      if (id && id !== asString(this.#meta.id)) this.#beginFork(id, at);
      if (id && !this.#session.isOpen && !this.#delayed.hasAnswer) this.#facts.root = id;
      return false;
    }
    this.#meta = id ? { ...meta, id } : { ...meta, id: this.#session.id };
    this.#session.id = [id ?? this.#session.id, this.#page].filter(Boolean).join("/");
    this.#session.noteTime(created);
    this.#session.noteFolder(meta.cwd);
    this.#session.note("agentVersion", meta.cli_version);
    this.#session.note("parent", getParentId(meta));
    if (this.#page) this.#session.note("continues", id);
    this.#facts.agentPath = getAgentPath(meta);
    this.#facts.isAgent = getParentId(meta) !== undefined || undefined;
    this.#facts.isContinued = isFields(meta.history_base) || undefined;
    if (isFields(meta.git)) this.#noteGit(meta.git);
    const from = asString(meta.forked_from_id);
    this.#facts.root = from ?? id;
    if (from && !isFields(meta.history_base)) this.#beginFork(from, at ?? created);
    else if (from) this.#session.note("forkedFrom", from);
    return false;
  }

  #noteGit({ branch, repository_url: url, commit_hash: hash }: Fields): void {
    this.#session.note("branch", branch);
    this.#session.noteRepository(url);
    const on = asString(branch);
    if (typeof hash === "string") this.#session.evidence.addCommit({ hash, ...(on && { branch: on }) });
  }

  #beginFork(from: string, at: string | undefined): void {
    if (this.#gate) return;
    this.#session.note("forkedFrom", from);
    this.#facts.isContinued = true;
    this.#gate = new ForkGate({
      id: asString(this.#meta?.id) ?? "",
      began: at ? Date.parse(at) : undefined,
      startOrdinal: this.#meta?.subagent_history_start_ordinal,
      parentTurns: this.#ancestry.parentTurns,
    });
  }

  #noteSettings({ model, service_tier: tier }: Fields, hasTier: boolean): void {
    this.#facts.model = asString(model) ?? this.#facts.model;
    if (hasTier) this.#facts.tier = asString(tier);
  }

  #addItem(item: Fields, line: RolloutLine): boolean {
    const read = readItem(item, this.#unhandled, this.#facts.agentPath);
    const messages = read.map((message) => this.#scripts.see(message, line.at));
    for (const message of this.#echoes.seeItem(item, messages)) this.#delayed.add(message, this.#facts.model);
    for (const { content, metadata } of messages) {
      if (isAbortNote(content)) this.#hasAbortNote = true;
      if (metadata?.kind === "notice" && !line.isReplayed) this.#session.noteFolder(readEnvironmentFolder(content));
    }
    return this.#delayAll(messages, line);
  }

  #addEvent(event: Fields, line: RolloutLine): boolean {
    const started = readStartedAgent(event);
    if (started) this.#delayed.noteAgent(started);
    switch (event.type) {
      case "token_count":
        if (isFields(event.info)) this.#requests.addTotal(event.info, event, this.#knownAt(line));
        return false;
      case "thread_name_updated":
        if (!line.isReplayed) this.#session.noteTitle(event.thread_name);
        return false;
      case "thread_settings_applied":
        if (isFields(event.thread_settings)) this.#noteSettings(event.thread_settings, true);
        return false;
      case "item_completed":
        this.#addDone(event, line);
        return false;
      case "user_message":
        this.#delayed.nameImages(event.local_images);
        return this.#addEcho("question", event.message, line);
      case "agent_message":
        return this.#addEcho("answer", event.message, line);
      case "agent_reasoning":
      case "agent_reasoning_raw_content":
        return this.#addEcho("thought", event.text, line);
      case "turn_aborted":
      case "task_complete":
      case "turn_complete":
        return this.#endTurn(event, line);
      default:
        return this.#delayAll(readNotices(event, this.#unhandled), line);
    }
  }

  /** Only events have the outcome of a script's tools. */
  #addDone(event: Fields, { isReplayed }: RolloutLine): void {
    this.#scripts.seeEvent(event);
    if (!isFields(event.item) || isReplayed) return;
    const command = readCommand(event.item);
    const output = asString(event.item.aggregated_output);
    if (command && output) this.#session.evidence.addOutput(command, output);
  }

  #addEcho(kind: "question" | "answer" | "thought", text: unknown, line: RolloutLine): false {
    const content = asString(text);
    const message: Message = { role: kind === "question" ? "user" : "assistant", content: content ?? "" };
    const shown = kind === "thought" ? withMetadata(message, { kind: "thinking" }) : message;
    if (content?.trim()) this.#echoes.seeEvent(kind, this.#complete(shown, line));
    return false;
  }

  #endTurn({ type, reason }: Fields, line: RolloutLine): boolean {
    this.#scripts.endTurn();
    for (const message of this.#echoes.endTurn()) this.#delayed.add(message, this.#facts.model);
    const isNoted = this.#hasAbortNote;
    this.#hasAbortNote = false;
    if (type !== "turn_aborted" || isNoted) return false;
    const why = asString(reason);
    return this.#delayAll([makeNotice(why ? `The turn was aborted: ${why}.` : "The turn was aborted.")], line);
  }

  #delayAll(messages: Message[], line: RolloutLine): boolean {
    if (this.#facts.isAgent && !line.isReplayed) this.#facts.task ??= findTask(messages);
    for (const message of messages) this.#delayed.add(this.#complete(message, line), this.#facts.model);
    return messages.length > 0;
  }

  #complete(message: Message, { at, isReplayed }: RolloutLine): Message {
    const complete = withMetadata(message, { replayed: isReplayed ? true : undefined });
    return at ? { ...complete, createdAt: at } : complete;
  }

  readonly #knownAt = ({ isReplayed }: RolloutLine) => ({ isReplayed, threadId: this.threadId, facts: this.#facts });

  end(title?: string): void {
    for (const message of this.#echoes.endTurn()) this.#delayed.add(message, this.#facts.model);
    this.#delayed.send();
    // The first messages of such an agent are its parent's.
    const { isAgent, isContinued, task, agentPath } = this.#facts;
    if (isAgent && isContinued) this.#session.suggestTitle(makeAgentTitle(task, agentPath));
    this.#session.noteTitle(title);
    this.#session.end();
  }

  /** The thread's id, which a page shares with others. */
  get threadId(): string {
    return this.#session.id.split("/")[0] ?? this.#session.id;
  }
}
