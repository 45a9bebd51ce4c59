import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { readAssistantBlocks } from "../blocks.ts";
import { makeNotice, makeToolCall, withTime } from "../messages.ts";
import { type EntryFacts, SessionBuilder } from "../session-builder.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asFields, asString, asTimestamp, toWords } from "../values.ts";
import { makeResult, readAppended, readCompaction } from "./messages.ts";

export const source = "kimi-code";

/** Messages are sent without tokens beyond this number. */
const maxDelayed = 50;

const skippedTypes = toWords(`
  metadata config.update context.update_token_count cron.add cron.cursor cron.delete forked full_compaction.begin
  full_compaction.cancel full_compaction.complete goal.account_usage goal.clear goal.continuation goal.create goal.update
  interaction.request interaction.resolved interruptionReminder.recorded llm.request llm.tools_snapshot mcp.tools_discovered
  micro_compaction.apply permission.record_approval_result permission.set_mode plan.revision plan_mode.cancel plan_mode.enter
  plan_mode.exit plugin.session_start profile.bind prompt.accepted runtime.set_binding staleGuard.cleared staleGuard.recorded
  swarm_mode.enter swarm_mode.exit task.started task.terminated task.waitDelivered token_counting.measured token_counting.rebased
  token_counting.truncated token_counting.turn_recorded tools.register_user_tool tools.reset_active_tools tools.set_active_tools
  tools.unregister_user_tool tools.update_store tower_mode.enter tower_mode.exit turn.cancel turn.ended turn.prompt turn.steer
  usage.record`);

const skippedEvents = new Set(["step.begin", "step.retry", "tool.progress"]);

export class KimiSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #sessionId: string;
  #delayed: Message[] = [];
  #model: string | undefined;
  #isReplayed = false;

  /** @param sessionId the id of the session whose sub-agents' sessions are `ID/AGENT` */
  constructor(sink: Sink, id: string, sessionId: string) {
    this.#sink = sink;
    this.#sessionId = sessionId;
    this.#session = new SessionBuilder(sink, source, id);
    if (id !== sessionId) this.#session.note("parent", sessionId);
  }

  add(record: Fields, isReplayed = false): void {
    if (isReplayed !== this.#isReplayed) this.#flush();
    this.#isReplayed = isReplayed;
    this.#noteFacts(record);
    const at = asTimestamp(record.time);
    // Only this record has a compaction's request.
    if (record.type === "usage.record" && record.usageScope === "session" && !isReplayed) this.#addUsage(record.usage);
    if (record.type === "context.append_loop_event" && isFields(record.event)) this.#addEvent(record.event, at);
    else this.#addMessages(record, at);
  }

  #noteFacts(record: Fields): void {
    if (!this.#isReplayed) this.#session.noteTime(record.created_at ?? record.time);
    const disclosed = asFields(record.environmentDisclosure);
    this.#session.noteFolder(record.cwd ?? disclosed.cwd);
    if (record.type === "llm.request") this.#model = asString(record.model) ?? this.#model;
    if (record.type === "config.update" || record.type === "profile.bind") this.#model ??= asString(record.modelAlias);
  }

  #addMessages(record: Fields, at: string | undefined): void {
    const messages = this.#readMessages(record);
    if (messages.length === 0) {
      this.#sink.skipped();
      return;
    }
    this.#flush();
    this.#session.send(messages, { at, isReplayed: this.#isReplayed });
  }

  #readMessages(record: Fields): Message[] {
    const { type, message, count } = record;
    switch (type) {
      case "context.append_message":
        return readAppended(asFields(message), this.#unhandled);
      case "context.apply_compaction":
        return readCompaction(record, this.#unhandled);
      case "context.clear":
        return [makeNotice("The conversation so far was cleared.")];
      case "context.undo":
        return [
          makeNotice(
            count === 1 ? "The last turn was taken back." : `The last ${Number(count)} turns were taken back.`,
          ),
        ];
      default:
        if (!skippedTypes.has(asString(type) ?? "")) this.#sink.unhandled(asString(type) ?? "(none)");
        return [];
    }
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
    const messages = this.#readEvent(event);
    if (messages.length === 0) this.#sink.skipped();
    this.#delayed.push(...messages.map((message) => withTime(message, at)));
    if (this.#delayed.length > maxDelayed) this.#flush();
  }

  #readEvent(event: Fields): Message[] {
    const callId = asString(event.toolCallId);
    switch (event.type) {
      case "content.part":
        return readAssistantBlocks([event.part], this.#unhandled);
      case "tool.call":
        return [makeToolCall(event.name, callId, event.args)];
      case "tool.result":
        return [this.#readResult(asFields(event.result), callId)];
      default:
        if (!skippedEvents.has(asString(event.type) ?? ""))
          this.#sink.unhandled(`event.${asString(event.type) ?? "(none)"}`);
        return [];
    }
  }

  #readResult({ output, isError }: Fields, callId: string | undefined): Message {
    const result = makeResult(output, { callId, isError: isError === true }, this.#unhandled);
    const [, agent] = /^agent_id: (agent-[\w-]+)$/m.exec(result.content.slice(0, 200)) ?? [];
    if (agent && isFields(result.metadata?.result)) result.metadata.result.session = `${this.#sessionId}/${agent}`;
    return result;
  }

  #flush(facts: EntryFacts = {}): void {
    const delayed = this.#delayed;
    this.#delayed = [];
    const isReplayed = this.#isReplayed;
    this.#session.send(delayed, { at: delayed[0]?.createdAt, model: this.#model, ...facts, isReplayed });
  }

  #addUsage(reported: unknown): void {
    const usage = readUsage(reported);
    if (usage) this.#session.addUsage(usage);
  }

  readonly #unhandled = (type: string) => this.#sink.unhandled(type);

  /** @param folder used if the session's own files do not name one */
  end(state: Fields, agent: string | undefined, folder: string | undefined): void {
    this.#flush();
    this.#session.note("forkedFrom", agent === undefined ? state.forkedFrom : undefined);
    if (state.forkedFrom !== undefined) this.#session.noteTime(state.createdAt);
    const about = isFields(state.agents) && agent !== undefined ? state.agents[agent] : undefined;
    const starter = asString(asFields(about).parentAgentId);
    if (starter && starter !== "main") this.#session.note("parent", `${this.#sessionId}/${starter}`);
    if (agent === undefined) this.#session.noteTitle(state.title);
    this.#session.noteFolder(state.workDir ?? state.cwd);
    this.#session.noteFolder(folder);
    this.#session.end();
  }
}

function readUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  return readTokens({
    inputTokens: usage.inputOther,
    outputTokens: usage.output,
    cacheReadTokens: usage.inputCacheRead,
    cacheWriteTokens: usage.inputCacheCreation,
  });
}
