import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import {
  makeNotice,
  makeToolCall,
  makeToolResult,
  toNotices,
  toTexts,
  toThoughts,
  withAttachments,
} from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asCount, asFields, asString, joinTexts, listFields, toWords } from "../values.ts";
import { RecordedRequests, readTotals } from "./requests.ts";
import { Assets, readOutcome, readOutput } from "./results.ts";

export const source = "copilot-cli";

const skippedEvents = toWords(`
  assistant.turn_start assistant.turn_end assistant.intent assistant.message_delta assistant.reasoning_delta
  assistant.usage external_tool.completed external_tool.requested hook.start hook.end pending_messages.modified
  permission.completed permission.requested session.auto_mode_resolved session.autopilot_objective_changed
  session.canvas.recorded session.canvas.removed session.compaction_start session.context_changed
  session.idle session.import_legacy session.mode_changed session.permissions_changed session.plan_changed
  session.remote_steerable_changed session.schedule_cancelled session.schedule_created session.schedule_rearmed
  session.session_limits_changed session.snapshot_rewind session.task_complete session.truncation
  session.usage_checkpoint session.usage_info session.workspace_file_changed skill.invoked subagent.completed
  subagent.configured subagent.deselected subagent.failed subagent.selected subagent.started tool.execution_partial_result
  tool.execution_progress tool_search.activated`);

const injected = /^\s*<(?:skill-context|system_notification|reminder)\b/;

/** Newer versions name the sub-agent, and its call only where it starts. Returns "" for the session itself. */
export class AgentFinder {
  readonly #calls = new Map<string, string>();

  find({ type, agentId, data }: Fields): string {
    const about = asFields(data);
    const agent = asString(agentId);
    const call = asString(about.toolCallId);
    if (type === "subagent.started" && agent && call) this.#calls.set(agent, call);
    const named = asString(about.parentToolCallId);
    return named ?? (agent ? (this.#calls.get(agent) ?? agent) : "");
  }
}

export class CopilotSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #isAgent: boolean;
  readonly #agents: ReadonlySet<string>;
  /** Calls that a message has named; executions name the others. */
  readonly #called = new Set<string>();
  readonly #started = new Map<string, Fields>();
  readonly #requests = new RecordedRequests();
  readonly #assets = new Assets();
  #reasoning: string | undefined;
  #counted = 0;
  #split: { call: unknown; tokens: number | undefined } | undefined;

  /**
   * @param parent the `sourceId` of a sub-agent's session
   * @param agents the calls that started a sub-agent
   */
  constructor(sink: Sink, id: string, { parent, agents }: { parent?: string; agents: ReadonlySet<string> }) {
    this.#sink = sink;
    this.#isAgent = parent !== undefined;
    this.#agents = agents;
    this.#session = new SessionBuilder(sink, source, id);
    this.#session.note("parent", parent);
  }

  get id(): string {
    return this.#session.id;
  }

  noteStart(data: Fields): void {
    const context = asFields(data.context);
    if (!this.#isAgent && asString(data.sessionId)) this.#session.id = asString(data.sessionId) ?? this.#session.id;
    this.#session.noteFolder(context.cwd);
    this.#session.note("branch", context.branch);
    this.#session.note("agentVersion", data.copilotVersion);
    this.#session.noteRepository(makeRemote(context));
    this.#session.noteTime(data.startTime);
  }

  add(record: Fields): void {
    const data = asFields(record.data);
    const at = record.timestamp;
    switch (record.type) {
      case "session.start":
      case "session.resume":
        this.noteStart(data);
        break;
      case "session.model_change":
        this.#session.noteModel(data.newModel);
        break;
      case "session.title_changed":
        this.#session.noteTitle(data.title);
        break;
      case "session.binary_asset":
        this.#assets.note(data);
        break;
      case "session.usage_record":
        this.#requests.add(data);
        break;
      case "session.shutdown":
        this.#addTotals(data);
        break;
      case "assistant.message":
        this.#addAnswer(record, data);
        return;
      case "tool.execution_start":
      case "tool.user_requested":
        this.#noteCall(data);
        break;
      default: {
        const messages = this.#readMessages(asString(record.type) ?? "(none)", data);
        this.#session.add(messages, { at, uuid: record.id });
        return;
      }
    }
    this.#sink.skipped();
  }

  #readMessages(type: string, data: Fields): Message[] {
    switch (type) {
      case "user.message":
        return this.#readUserMessage(data);
      case "assistant.reasoning": {
        this.#reasoning = asString(data.content);
        return toThoughts(this.#reasoning);
      }
      case "tool.execution_complete":
        return this.#readResult(data);
      case "session.info":
      case "session.warning":
      case "session.error":
        return toNotices(data.message);
      case "session.context_cleared":
        return [makeNotice("The conversation so far was cleared.")];
      case "session.handoff":
        return toNotices(joinTexts([data.summary, data.context], "\n\n"));
      case "session.compaction_complete":
        this.#requests.addCompaction(data);
        return toNotices(data.summaryContent ?? data.summary);
      case "system.message":
      case "system.notification":
        return toNotices(data.content);
      case "abort":
        return toNotices(data.reason && `Aborted: ${String(data.reason)}`);
      default:
        if (!skippedEvents.has(type)) this.#sink.unhandled(type);
        return [];
    }
  }

  #readUserMessage({ content, source: from, attachments, isAutopilotContinuation }: Fields): Message[] {
    const text = asString(content);
    if (!text) return [];
    const isOthers = /^skill-/.test(asString(from) ?? "") || (/^agent-/.test(asString(from) ?? "") && !this.#isAgent);
    if (isOthers || isAutopilotContinuation === true || injected.test(text)) return [makeNotice(text, "user")];
    const names = listFields(attachments).map(({ type, path, filePath, displayName }) => ({
      type: asString(type),
      name: asString(path) ?? asString(filePath) ?? asString(displayName),
    }));
    const said = [text, ...this.#assets.findTexts(attachments)].join("\n");
    return [withAttachments({ role: "user", content: said }, names)];
  }

  #addAnswer({ timestamp: at, id }: Fields, data: Fields): void {
    const thought = asString(data.reasoningText);
    const requests = listFields(data.toolRequests);
    const messages: Message[] = [
      ...(thought === this.#reasoning ? [] : toThoughts(thought)),
      ...toTexts("assistant", data.content),
      ...requests.map((request) => this.#makeCall(request.toolCallId, request.name, request.arguments)),
    ];
    this.#reasoning = undefined;
    const request = this.#requests.claim(data.apiCallId);
    const outputTokens = this.#requests.has(data.apiCallId) ? undefined : this.#readTokens(data);
    this.#counted += outputTokens ?? 0;
    this.#session.add(messages, {
      at,
      model: data.model ?? request?.model,
      usage: request?.usage ?? (outputTokens ? { outputTokens } : undefined),
      uuid: data.messageId ?? id,
      requestId: data.requestId ?? data.serviceRequestId ?? request?.requestId,
      stopReason: request?.stopReason,
    });
  }

  /** Each part of a split answer may have the tokens of all. */
  #readTokens({ apiCallId, chunkIndex, outputTokens }: Fields): number | undefined {
    const tokens = asCount(outputTokens);
    const before = this.#split;
    const isRepeated = typeof chunkIndex === "number" && before?.call === apiCallId && before?.tokens === tokens;
    this.#split = typeof chunkIndex === "number" ? { call: apiCallId, tokens } : undefined;
    return isRepeated ? undefined : tokens;
  }

  #makeCall(callId: unknown, name: unknown, input: unknown): Message {
    const id = asString(callId);
    if (id) this.#called.add(id);
    return makeToolCall(name, id, input);
  }

  #noteCall(data: Fields): void {
    const id = asString(data.toolCallId);
    if (id && !this.#called.has(id)) this.#started.set(id, data);
  }

  #readResult(data: Fields): Message[] {
    const { toolCallId, result, error } = data;
    const callId = asString(toolCallId);
    const started = callId === undefined ? undefined : this.#started.get(callId);
    if (callId) this.#started.delete(callId);
    const isNamed = !started || this.#called.has(callId ?? "");
    const call = isNamed ? [] : [this.#makeCall(callId, started.toolName, started.arguments)];
    const output = makeToolResult(
      readOutput(result, error, this.#assets, (type) => this.#sink.unhandled(type)),
      {
        ...readOutcome(data),
        callId,
        session: callId && this.#agents.has(callId) ? `${this.id}/${callId}` : undefined,
      },
    );
    return [...call, output];
  }

  #addTotals({ modelMetrics, currentModel }: Fields): void {
    const byModel = asFields(modelMetrics);
    const models = Object.keys(byModel);
    this.#session.noteModel(currentModel ?? (models.length === 1 ? models[0] : undefined));
    const isRecorded = this.#requests.isRecorded;
    this.#requests.isRecorded = false;
    if (isRecorded) return;
    let reported = 0;
    for (const metrics of Object.values(byModel)) {
      const { outputTokens = 0, ...others } =
        isFields(metrics) && isFields(metrics.usage) ? readTotals(metrics.usage) : {};
      this.#session.addUsage(others);
      reported += outputTokens;
    }
    if (this.#counted === 0) this.#session.addUsage({ outputTokens: reported });
  }

  noteTitle(title: string | undefined): void {
    this.#session.noteTitle(title);
  }

  end(): void {
    for (const { model, usage } of this.#requests.listRemaining()) this.#session.addRequests(model, usage);
    this.#session.end();
  }
}

function makeRemote({ repository, repositoryHost, hostType }: Fields): string | undefined {
  const [host, name] = [
    asString(repositoryHost) ?? (hostType === "github" ? "github.com" : undefined),
    asString(repository),
  ];
  return host && name && /^[\w.-]+$/.test(host) && /^[\w./-]+$/.test(name) ? `https://${host}/${name}` : undefined;
}
