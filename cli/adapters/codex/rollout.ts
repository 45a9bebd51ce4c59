import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { notice, withMetadata } from "../messages.ts";
import { type Usage, UsageCounter, withUsage } from "../usage.ts";
import { asString, asTimestamp, projectName, truncate } from "../values.ts";
import { itemMessages } from "./items.ts";

export const source = "codex-cli";

/** How long a fork takes to write its parent's history after its own beginning, in milliseconds. */
const forkMs = 1000;
/** Messages wait for the token count that follows them; beyond this number they are sent without. */
const maxHeld = 50;

/** Events that repeat an item or belong to no message. */
const skippedEvents = new Set(
  `user_message agent_message agent_message_delta agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break
  exec_command_begin exec_command_output_delta exec_command_end patch_apply_begin patch_apply_end mcp_tool_call_begin
  mcp_tool_call_end web_search_begin web_search_end view_image_tool_call image_generation_begin image_generation_end
  task_started task_complete turn_started turn_complete turn_aborted context_compacted turn_diff plan_update plan_delta
  session_configured background_event entered_review_mode exited_review_mode item_started item_completed undo_started
  undo_completed raw_response_item thread_settings_applied dynamic_tool_call_request dynamic_tool_call_response
  collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_begin collab_agent_interaction_end
  collab_waiting_begin collab_waiting_end collab_close_begin collab_close_end mcp_startup_update mcp_startup_complete
  exec_approval_request apply_patch_approval_request request_user_input elicitation_request guardian_assessment
  thread_goal_updated shutdown_complete`.split(/\s+/),
);

/** A session as `Rollout.save` returns it. */
type SavedRollout = {
  usage: ReturnType<UsageCounter["save"]>;
  sourceId: string;
  meta: Fields | undefined;
  forkedUntil: number;
  lastTotal: Usage;
  round: number;
} & { [name in "createdAt" | "cwd" | "model" | "sentModel" | "title" | "forkedFrom"]?: string };

/** What became of a line. */
type LineResult = "sent" | "skipped" | "invalid";

/** Builds one session from the lines of a rollout. */
export class Rollout {
  readonly #sink: Sink;
  #usage = new UsageCounter();
  #held: Message[] = [];
  #sourceId: string;
  #isOpen = false;
  #meta: Fields | undefined;
  #createdAt: string | undefined;
  #cwd: string | undefined;
  #model: string | undefined;
  #sentModel: string | undefined;
  #title: string | undefined;
  #forkedFrom: string | undefined;
  #forkedUntil = 0;
  #lastTotal: Usage = {};
  #round = 0;

  constructor(sink: Sink, name: string) {
    this.#sink = sink;
    const [id] = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(name) ?? [name];
    this.#sourceId = id;
  }

  /** What is known so far, as JSON; undefined while an answer waits for its token count, which would change it. */
  save(): Fields | undefined {
    if (!this.#isOpen || this.#held.some(({ role }) => role === "assistant")) return undefined;
    return {
      usage: this.#usage.save(),
      sourceId: this.#sourceId,
      meta: this.#meta,
      createdAt: this.#createdAt,
      cwd: this.#cwd,
      model: this.#model,
      sentModel: this.#sentModel,
      title: this.#title,
      forkedFrom: this.#forkedFrom,
      forkedUntil: this.#forkedUntil,
      lastTotal: this.#lastTotal,
      round: this.#round,
    };
  }

  /** Continues a session. @param saved what `save` returned @param messages how many it had then */
  resume(saved: Fields, messages: number): void {
    const state = saved as SavedRollout;
    this.#usage = new UsageCounter(state.usage);
    this.#sourceId = state.sourceId;
    this.#meta = state.meta;
    this.#createdAt = state.createdAt;
    this.#noteFolder(state.cwd);
    this.#model = state.model;
    this.#sentModel = state.sentModel;
    this.#title = state.title;
    this.#forkedFrom = state.forkedFrom;
    this.#forkedUntil = state.forkedUntil;
    this.#lastTotal = state.lastTotal;
    this.#round = state.round;
    this.#isOpen = true;
    this.#sink.begin(source, this.#sourceId, messages);
  }

  add(record: Fields): void {
    const result = this.#addLine(record, asTimestamp(record.timestamp));
    if (result === "skipped") this.#sink.skipped();
    else if (result === "invalid") this.#sink.invalid();
  }

  #addLine({ type, payload, ...bare }: Fields, at: string | undefined): LineResult {
    if (!isFields(payload)) return this.#addBareLine({ type, ...bare }, at);
    switch (type) {
      case "session_meta":
        return this.#addMeta(payload, at);
      case "turn_context":
        this.#noteFolder(asString(payload.cwd));
        this.#model = asString(payload.model) ?? this.#model;
        return "skipped";
      case "response_item":
        return this.#addItem(payload, at);
      case "compacted":
        return this.#addNotice(payload.message, at);
      case "event_msg":
        return this.#addEvent(payload, at);
      case "world_state":
      case "inter_agent_communication_metadata":
        return "skipped";
      default:
        this.#sink.unhandled(asString(type) ?? "(none)");
        return "skipped";
    }
  }

  /** The folder may change from turn to turn; the latest one counts. */
  #noteFolder(cwd: string | undefined): void {
    if (cwd === undefined || cwd === this.#cwd) return;
    this.#cwd = cwd;
    this.#sink.folder(cwd);
  }

  /** A line without an envelope. */
  #addBareLine(record: Fields, at: string | undefined): LineResult {
    if (record.record_type !== undefined) return "skipped";
    if (record.type !== undefined) return this.#addItem(record, at);
    return asString(record.id) === undefined ? "invalid" : this.#addMeta(record, at);
  }

  #addMeta(meta: Fields, at: string | undefined): LineResult {
    const id = asString(meta.id) ?? asString(meta.session_id);
    const began = at ?? asTimestamp(meta.timestamp);
    if (this.#meta) {
      // The second one belongs to the session that this one was forked from.
      if (id && id !== this.#sourceId) this.#forkedFrom ??= id;
      return "skipped";
    }
    this.#meta = meta;
    this.#sourceId = id ?? this.#sourceId;
    this.#createdAt = asTimestamp(meta.timestamp) ?? at;
    this.#noteFolder(asString(meta.cwd));
    this.#forkedUntil = began ? Date.parse(began) + forkMs : 0;
    this.#forkedFrom = asString(meta.forked_from_id);
    return "skipped";
  }

  #isReplayed(at: string | undefined): boolean {
    return this.#forkedFrom !== undefined && at !== undefined && Date.parse(at) <= this.#forkedUntil;
  }

  #addItem(item: Fields, at: string | undefined): LineResult {
    const messages = itemMessages(item, (type) => this.#sink.unhandled(type));
    for (const message of messages) this.#hold(message, at);
    return messages.length > 0 ? "sent" : "skipped";
  }

  #addNotice(text: unknown, at: string | undefined): LineResult {
    const content = asString(text);
    if (content) this.#hold(notice(content), at);
    return content ? "sent" : "skipped";
  }

  #addEvent(event: Fields, at: string | undefined): LineResult {
    const type = asString(event.type) ?? "(none)";
    switch (type) {
      case "token_count":
        if (isFields(event.info)) this.#countTokens(event.info, at);
        break;
      case "thread_name_updated":
        this.#title = asString(event.thread_name) ?? this.#title;
        break;
      case "thread_rolled_back":
        return this.#addNotice(`The last ${Number(event.num_turns)} turns were taken back.`, at);
      case "error":
      case "stream_error":
      case "warning":
        return this.#addNotice(event.message, at);
      default:
        if (!skippedEvents.has(type)) this.#sink.unhandled(`event_msg.${type}`);
    }
    return "skipped";
  }

  #hold(message: Message, at: string | undefined): void {
    this.#createdAt ??= at;
    const isReplayed = this.#isReplayed(at);
    const isNewModel = message.role === "assistant" && this.#model !== this.#sentModel;
    if (isNewModel) this.#sentModel = this.#model;
    const complete = withMetadata(message, {
      model: isNewModel ? this.#model : undefined,
      replayed: isReplayed ? true : undefined,
    });
    this.#held.push(at ? { ...complete, createdAt: at } : complete);
    if (this.#held.length > maxHeld) this.#sendHeld();
  }

  /** Totals start again from zero with each process. */
  #countTokens(info: Fields, at: string | undefined): void {
    const total = readUsage(info.total_token_usage);
    if ((total.outputTokens ?? 0) < (this.#lastTotal.outputTokens ?? 0)) this.#round++;
    this.#lastTotal = total;
    const name = String(this.#round);
    const isReplayed = this.#isReplayed(at);
    if (isReplayed) this.#usage.ignore(name, total);
    this.#sendHeld(isReplayed ? undefined : this.#usage.add(name, total));
  }

  #sendHeld(usage?: Usage): void {
    const producer = usage ? this.#held.find(({ role }) => role === "assistant") : undefined;
    for (const message of this.#held) this.#send(message === producer ? withUsage(message, usage) : message);
    this.#held = [];
  }

  #send(message: Message): void {
    if (!this.#isOpen) this.#sink.begin(source, this.#sourceId);
    this.#isOpen = true;
    this.#sink.message(message);
  }

  end(): void {
    this.#sendHeld();
    if (!this.#isOpen) return;
    const project = projectName(this.#cwd);
    this.#sink.end({
      ...(this.#model && { model: truncate(this.#model, 256) }),
      ...(this.#title && { title: truncate(this.#title, 512) }),
      ...(project && { project }),
      ...(this.#createdAt && { createdAt: this.#createdAt }),
      metadata: this.#metadata(),
    });
  }

  #metadata(): Fields {
    const { git, cli_version: version, source: from } = this.#meta ?? {};
    const branch = isFields(git) ? asString(git.branch) : undefined;
    const parent = parentOf(from);
    return {
      ...(this.#cwd && { cwd: this.#cwd }),
      ...(branch && { branch }),
      ...(asString(version) && { agentVersion: version }),
      ...(parent && { parent }),
      ...(this.#forkedFrom && { forkedFrom: this.#forkedFrom }),
      ...(Object.keys(this.#usage.total).length > 0 && { usage: this.#usage.total }),
    };
  }
}

/** The session that a sub-agent works for: `{subagent: {thread_spawn: {parent_thread_id}}}`. */
function parentOf(from: unknown): string | undefined {
  const subagent = isFields(from) ? from.subagent : undefined;
  const spawn = isFields(subagent) ? subagent.thread_spawn : undefined;
  return isFields(spawn) ? asString(spawn.parent_thread_id) : undefined;
}

function readUsage(usage: unknown): Usage {
  if (!isFields(usage)) return {};
  const count = (value: unknown) => (typeof value === "number" && value > 0 ? value : 0);
  const cached = count(usage.cached_input_tokens);
  return {
    inputTokens: Math.max(0, count(usage.input_tokens) - cached),
    outputTokens: count(usage.output_tokens),
    cacheReadTokens: cached,
    reasoningTokens: count(usage.reasoning_output_tokens),
  };
}
