import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { assistantMessages, textOf, userBlocks } from "../blocks.ts";
import { notice, toolCall, toolResult } from "../messages.ts";
import { type EntryFacts, SessionBuilder } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString, asTimestamp } from "../values.ts";

export const source = "kimi-code";

/** Messages wait for the token count at the end of their step; beyond this number they are sent without. */
const maxHeld = 50;

/** Lines that repeat a message or belong to none. */
const skippedTypes = new Set(
  `metadata config.update tools.set_active_tools turn.prompt turn.steer turn.cancel turn.ended llm.tools_snapshot
  llm.request usage.record permission.record_approval_result permission.set_mode plan_mode.enter plan_mode.exit
  full_compaction.begin full_compaction.complete full_compaction.cancel profile.bind plugin.session_start
  runtime.set_binding token_counting.measured token_counting.turn_recorded`.split(/\s+/),
);

const skippedEvents = new Set(["step.begin", "step.retry", "tool.progress"]);

/** Who wrote a user's message: the person, or whoever started a sub-agent; the program wrote every other. */
const isWritten = (origin: unknown): boolean =>
  !isFields(origin) || origin.kind === "user" || (origin.kind === "system_trigger" && origin.name === "subagent");

/** Builds one session from the lines of a log. */
export class KimiSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #sessionId: string;
  #held: Message[] = [];
  #model: string | undefined;

  /** @param sessionId the id of the session whose sub-agents' sessions are `ID/AGENT` */
  constructor(sink: Sink, id: string, sessionId: string) {
    this.#sink = sink;
    this.#sessionId = sessionId;
    this.#session = new SessionBuilder(sink, source, id);
    if (id !== sessionId) this.#session.note("parent", sessionId);
  }

  add(record: Fields): void {
    this.#noteFacts(record);
    const at = asTimestamp(record.time);
    // A turn's records repeat what its steps tell; a compaction's request is only here.
    if (record.type === "usage.record" && record.usageScope === "session") this.#addUsage(record.usage);
    if (record.type === "context.append_loop_event" && isFields(record.event)) this.#addEvent(record.event, at);
    else this.#addMessages(record, at);
  }

  #noteFacts(record: Fields): void {
    this.#session.noteTime(record.created_at ?? record.time);
    const disclosed = isFields(record.environmentDisclosure) ? record.environmentDisclosure : {};
    this.#session.noteFolder(record.cwd ?? disclosed.cwd);
    if (record.type === "llm.request") this.#model = asString(record.model) ?? this.#model;
  }

  #addMessages(record: Fields, at: string | undefined): void {
    const messages = this.#messagesOf(record);
    if (messages.length === 0) {
      this.#sink.skipped();
      return;
    }
    this.#flush();
    this.#session.send(messages, { at });
  }

  #messagesOf({ type, message, summary }: Fields): Message[] {
    switch (type) {
      case "context.append_message":
        return this.#appended(isFields(message) ? message : {});
      case "context.apply_compaction": {
        const text = asString(summary);
        return text ? [notice(text)] : [];
      }
      default:
        if (!skippedTypes.has(asString(type) ?? "")) this.#sink.unhandled(asString(type) ?? "(none)");
        return [];
    }
  }

  #appended({ role, content, origin }: Fields): Message[] {
    if (role === "assistant") return assistantMessages(content, this.#unhandled);
    if (role !== "user") {
      this.#sink.unhandled(`role.${asString(role) ?? "(none)"}`);
      return [];
    }
    if (isWritten(origin)) return userBlocks(content, this.#unhandled);
    const text = textOf(content, this.#unhandled);
    return text ? [notice(text, "user")] : [];
  }

  #addEvent(event: Fields, at: string | undefined): void {
    if (event.type === "step.end") {
      this.#flush({
        usage: readUsage(event.usage),
        stopReason: event.finishReason,
        requestId: event.messageId,
        uuid: event.uuid,
      });
      this.#sink.skipped();
      return;
    }
    const messages = this.#eventMessages(event);
    if (messages.length === 0) this.#sink.skipped();
    this.#held.push(...messages.map((message) => (at ? { ...message, createdAt: at } : message)));
    if (this.#held.length > maxHeld) this.#flush();
  }

  #eventMessages(event: Fields): Message[] {
    const callId = asString(event.toolCallId);
    switch (event.type) {
      case "content.part":
        return assistantMessages([event.part], this.#unhandled);
      case "tool.call":
        return [toolCall(asString(event.name) ?? "tool", callId, event.args)];
      case "tool.result":
        return [this.#result(isFields(event.result) ? event.result : {}, callId)];
      default:
        if (!skippedEvents.has(asString(event.type) ?? ""))
          this.#sink.unhandled(`event.${asString(event.type) ?? "(none)"}`);
        return [];
    }
  }

  #result({ output, isError }: Fields, callId: string | undefined): Message {
    const text = textOf(output, this.#unhandled);
    const [, agent] = /^agent_id: (agent-[\w-]+)$/m.exec(text.slice(0, 200)) ?? [];
    const session = agent && `${this.#sessionId}/${agent}`;
    return toolResult(text, { callId, isError: isError === true, session });
  }

  #flush(facts: EntryFacts = {}): void {
    const held = this.#held;
    this.#held = [];
    this.#session.send(held, { at: held[0]?.createdAt, model: this.#model, ...facts });
  }

  #addUsage(reported: unknown): void {
    const usage = readUsage(reported);
    if (usage) this.#session.addUsage(usage);
  }

  readonly #unhandled = (type: string) => this.#sink.unhandled(type);

  /** Ends the session. @param state of `state.json`: its title and folder */
  end(state: unknown): void {
    this.#flush();
    if (isFields(state)) {
      this.#session.noteTitle(state.title);
      this.#session.noteFolder(state.workDir);
    }
    this.#session.end();
  }
}

function readUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  return {
    inputTokens: asCount(usage.inputOther) ?? 0,
    outputTokens: asCount(usage.output) ?? 0,
    cacheReadTokens: asCount(usage.inputCacheRead) ?? 0,
    cacheWriteTokens: asCount(usage.inputCacheCreation) ?? 0,
  };
}
