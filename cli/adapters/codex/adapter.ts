import { basename, join } from "node:path";
import { supportsZstd } from "../../files/byte-reader.ts";
import { findFiles, statInput } from "../../files/discovery.ts";
import { type Fields, isFields, readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, Input, Message, SearchRoot, Sink } from "../adapter.ts";
import {
  asString,
  asTimestamp,
  notice,
  projectName,
  truncate,
  type Usage,
  UsageCounter,
  withMetadata,
  withUsage,
} from "../metadata.ts";
import { itemMessages } from "./items.ts";

const source = "codex-cli";

/**
 * Codex CLI: a file of JSON lines for each session, `rollout-….jsonl`.
 *
 * - Token counts are totals of the whole session: each report adds the difference to the one before.
 * - A `compacted` line carries the history that replaces what was said; all of it stands in the file already.
 * - Most events (`event_msg`) say once more what an item (`response_item`) said.
 * - A fork begins with its parent's lines, written in the moment in which it was made: they are kept, and not counted.
 * - Rollouts that were left alone for long are compressed (`.jsonl.zst`).
 * - Until September 2025 items stood in the file without an envelope.
 */
export const codex: Adapter = {
  name: source,
  title: "Codex CLI",
  version: 1,
  diagnose,
  async *discover(host) {
    for (const { path } of diagnose(host)) yield* rolloutsBelow(path);
  },
  async parse(input, sink) {
    if (isPacked(input.path) && !supportsZstd()) {
      sink.lost(unreadable);
      return;
    }
    const rollout = new Rollout(sink, basename(input.path).replace(/\.jsonl(?:\.zst)?$/, ""));
    await readRecords(input.path, sink, (record) => rollout.take(record));
    rollout.end();
  },
};

function diagnose({ home, env }: Host): SearchRoot[] {
  const folder = env.CODEX_HOME || join(home, ".codex");
  const from = env.CODEX_HOME ? { from: "CODEX_HOME" } : {};
  return ["sessions", "archived_sessions"].map((name) => ({ path: join(folder, name), ...from }));
}

/** Every rollout once: while one is being compressed, both of its files are there. */
async function* rolloutsBelow(folder: string): AsyncGenerator<Input> {
  for await (const input of findFiles(folder, (name) => /^rollout-.*\.jsonl(?:\.zst)?$/.test(name))) {
    if (!isPacked(input.path)) yield input;
    else if (!(await statInput(input.path.slice(0, -".zst".length)))) yield packedInput(input);
  }
}

/** What one Node could not read, a newer one is to try: to it, it is another file. */
const packedInput = (input: Input): Input => (supportsZstd() ? input : { ...input, stamp: `${input.stamp}:packed` });

const isPacked = (path: string): boolean => path.endsWith(".zst");

const unreadable = `it is compressed with zstd, which Node ${process.versions.node} can't read: use Node 22.15 or later`;

/** How long after its own beginning a fork is done with writing its parent's history, in milliseconds. */
const forkMs = 1000;
/** Messages that wait for the count of their tokens; more than these go on without. */
const maxHeld = 50;

const saidByItems = new Set(
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

/** What became of a line. */
type Became = "said" | "skipped" | "invalid";

class Rollout {
  readonly #sink: Sink;
  readonly #usage = new UsageCounter();
  #held: Message[] = [];
  #sourceId: string;
  #isOpen = false;
  #meta: Fields | undefined;
  #createdAt: string | undefined;
  #cwd: string | undefined;
  #model: string | undefined;
  #toldModel: string | undefined;
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

  take(record: Fields): void {
    const became = this.#take(record, asTimestamp(record.timestamp));
    if (became === "skipped") this.#sink.skipped();
    else if (became === "invalid") this.#sink.invalid();
  }

  #take({ type, payload, ...bare }: Fields, at: string | undefined): Became {
    if (!isFields(payload)) return this.#takeBare({ type, ...bare }, at);
    switch (type) {
      case "session_meta":
        return this.#takeMeta(payload, at);
      case "turn_context":
        this.#cwd = asString(payload.cwd) ?? this.#cwd;
        this.#model = asString(payload.model) ?? this.#model;
        return "skipped";
      case "response_item":
        return this.#takeItem(payload, at);
      case "compacted":
        return this.#takeText(payload.message, at);
      case "event_msg":
        return this.#takeEvent(payload, at);
      case "world_state":
      case "inter_agent_communication_metadata":
        return "skipped";
      default:
        this.#sink.unhandled(asString(type) ?? "(none)");
        return "skipped";
    }
  }

  /** A line as they were before there was an envelope. */
  #takeBare(record: Fields, at: string | undefined): Became {
    if (record.record_type !== undefined) return "skipped";
    if (record.type !== undefined) return this.#takeItem(record, at);
    return asString(record.id) === undefined ? "invalid" : this.#takeMeta(record, at);
  }

  #takeMeta(meta: Fields, at: string | undefined): Became {
    const id = asString(meta.id) ?? asString(meta.session_id);
    const began = at ?? asTimestamp(meta.timestamp);
    if (this.#meta) {
      // The second one is of the session whose history is replayed here.
      if (id && id !== this.#sourceId) this.#forkedFrom ??= id;
      return "skipped";
    }
    this.#meta = meta;
    this.#sourceId = id ?? this.#sourceId;
    this.#createdAt = asTimestamp(meta.timestamp) ?? at;
    this.#cwd = asString(meta.cwd);
    this.#forkedUntil = began ? Date.parse(began) + forkMs : 0;
    this.#forkedFrom = asString(meta.forked_from_id);
    return "skipped";
  }

  #isReplayed(at: string | undefined): boolean {
    return this.#forkedFrom !== undefined && at !== undefined && Date.parse(at) <= this.#forkedUntil;
  }

  #takeItem(item: Fields, at: string | undefined): Became {
    const messages = itemMessages(item, (type) => this.#sink.unhandled(type));
    for (const message of messages) this.#say(message, at);
    return messages.length > 0 ? "said" : "skipped";
  }

  #takeText(text: unknown, at: string | undefined): Became {
    const content = asString(text);
    if (content) this.#say(notice(content), at);
    return content ? "said" : "skipped";
  }

  #takeEvent(event: Fields, at: string | undefined): Became {
    const type = asString(event.type) ?? "(none)";
    switch (type) {
      case "token_count":
        if (isFields(event.info)) this.#count(event.info, at);
        break;
      case "thread_name_updated":
        this.#title = asString(event.thread_name) ?? this.#title;
        break;
      case "thread_rolled_back":
        return this.#takeText(`The last ${Number(event.num_turns)} turns were taken back.`, at);
      case "error":
      case "stream_error":
      case "warning":
        return this.#takeText(event.message, at);
      default:
        if (!saidByItems.has(type)) this.#sink.unhandled(`event_msg.${type}`);
    }
    return "skipped";
  }

  #say(message: Message, at: string | undefined): void {
    this.#createdAt ??= at;
    const isReplayed = this.#isReplayed(at);
    const isNewModel = message.role === "assistant" && this.#model !== this.#toldModel;
    if (isNewModel) this.#toldModel = this.#model;
    const told = withMetadata(message, {
      model: isNewModel ? this.#model : undefined,
      replayed: isReplayed ? true : undefined,
    });
    this.#held.push(at ? { ...told, createdAt: at } : told);
    if (this.#held.length > maxHeld) this.#release();
  }

  /** Totals that are less than before began anew, with a new process. */
  #count(info: Fields, at: string | undefined): void {
    const total = readUsage(info.total_token_usage);
    if ((total.outputTokens ?? 0) < (this.#lastTotal.outputTokens ?? 0)) this.#round++;
    this.#lastTotal = total;
    const name = String(this.#round);
    const isReplayed = this.#isReplayed(at);
    if (isReplayed) this.#usage.skip(name, total);
    this.#release(isReplayed ? undefined : this.#usage.add(name, total));
  }

  #release(usage?: Usage): void {
    const paying = usage ? this.#held.find(({ role }) => role === "assistant") : undefined;
    for (const message of this.#held) this.#send(message === paying ? withUsage(message, usage) : message);
    this.#held = [];
  }

  #send(message: Message): void {
    if (!this.#isOpen) this.#sink.begin(source, this.#sourceId);
    this.#isOpen = true;
    this.#sink.message(message);
  }

  end(): void {
    this.#release();
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
