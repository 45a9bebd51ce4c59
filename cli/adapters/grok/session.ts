import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { readUserText } from "../cursor/text.ts";
import { makeAttachment, makeNotice, makeThought, makeToolCall, makeToolResult, withAttachments } from "../messages.ts";
import { formatData } from "../pictures.ts";
import { type EntryFacts, SessionBuilder } from "../session-builder.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asCount, asFields, asString, asTimestamp, dropOldest, listFields, toWords } from "../values.ts";

export const source = "grok-build";

/** Messages are sent without tokens, and calls without input, beyond this number. */
const maxDelayed = 50;
const maxIds = 1000;

/** Updates of the protocol that agents and editors share (ACP), and Grok's own. */
const skippedUpdates = toWords(`
  available_commands_update config_option_update current_mode_update plan session_info_update usage_update
  auto_compact_cancelled auto_compact_completed auto_compact_failed auto_compact_started auto_continue_completed
  auto_recovery_exhausted auto_recovery_started diff_review feedback_request goal_updated hook_annotation hook_execution
  hooks_changed image_compressed image_dropped interaction_resolved last_turn_summary memory_dream_completed memory_files
  memory_flush_completed memory_flush_started memory_session_saved model_auto_switched monitor_event pending_interaction
  plugin_updates_installed plugins_changed reasoning_completed relay_sync_status response_completed response_started
  retry_state scheduled_task_created scheduled_task_deleted scheduled_task_fired session_recap session_recap_unavailable
  session_status session_summary_generated subagent_finished subagent_progress subagent_spawned task_backgrounded
  task_completed tool_call_delta_chunk workflow_updated`);

type Growing = {
  kind: string;
  prompt: unknown;
  texts: string[];
  files: string[];
  attachments: Fields[];
  at: string | undefined;
};

export class GrokSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #forkedAt: number;
  readonly #isCopied: (record: Fields) => boolean;
  #growing: Growing | undefined;
  #delayed: Message[] = [];
  readonly #bare = new Map<string, { message: Message; name: string }>();
  readonly #answered = new Set<string>();
  readonly #counted = new Set<string>();
  #model: string | undefined;
  #isReplayed = false;

  constructor(sink: Sink, id: string, summary: Fields, isCopied: (record: Fields) => boolean) {
    this.#sink = sink;
    this.#isCopied = isCopied;
    this.#session = new SessionBuilder(sink, source, id);
    const { info, parent_session_id: from, session_kind: kind } = summary;
    this.#session.noteFolder(summary.source_workspace_dir ?? asFields(info).cwd);
    this.#session.noteTitle(summary.session_summary);
    this.#session.noteTitle(summary.generated_title);
    this.#session.noteTime(summary.created_at);
    this.#session.note("branch", summary.head_branch);
    const remotes = Array.isArray(summary.git_remotes) ? summary.git_remotes : [];
    this.#session.noteRepository(remotes[0]);
    this.#session.note(asString(kind)?.startsWith("subagent") ? "parent" : "forkedFrom", from);
    this.#model = asString(summary.current_model_id);
    this.#forkedAt = Date.parse(asTimestamp(summary.forked_at) ?? "1970-01-01T00:00:00Z");
  }

  readonly unhandled = (type: string): void => this.#sink.unhandled(type);

  addMessages(messages: Message[], model: string | undefined): void {
    this.#session.add(messages, { model });
  }

  addUpdate(record: Fields): void {
    const params = isFields(record.params) ? record.params : record;
    const { update } = params;
    if (!isFields(update)) {
      this.#sink.invalid();
      return;
    }
    const seconds = typeof record.timestamp === "number" && record.timestamp > 0 ? record.timestamp : undefined;
    const isReplayed = seconds !== undefined && seconds * 1000 <= this.#forkedAt && this.#isCopied(record);
    if (isReplayed !== this.#isReplayed) this.#flush();
    this.#isReplayed = isReplayed;
    const at = asTimestamp(seconds === undefined ? undefined : seconds * 1000);
    if (!this.#grow(update, at)) this.#add(update, at);
  }

  #grow(update: Fields, at: string | undefined): boolean {
    const [, kind] = /^(user_message|agent_message|agent_thought)_chunk$/.exec(String(update.sessionUpdate)) ?? [];
    if (kind === undefined) return false;
    const meta = asFields(update._meta);
    const name = meta.hostTurn === true ? "host" : kind;
    const isSame =
      this.#growing?.kind === name && (name !== "user_message" || this.#growing.prompt === meta.promptIndex);
    if (!isSame) {
      this.#endGrowing();
      this.#growing = { kind: name, prompt: meta.promptIndex, texts: [], files: [], attachments: [], at };
    } else this.#sink.skipped();
    const content = asFields(update.content);
    const texts = content.type === "text" ? this.#growing?.texts : this.#growing?.files;
    texts?.push(this.#readText(content));
    this.#growing?.attachments.push(...listAttachments(content));
    return true;
  }

  #readText(content: Fields): string {
    switch (content.type) {
      case "text":
        return asString(content.text) ?? "";
      case "image":
      case "audio":
        return formatData(content.type, content.mimeType, content.data);
      case "resource_link":
        return `[file: ${asString(content.uri) ?? ""}]`;
      case "resource":
        return `[file: ${(isFields(content.resource) && asString(content.resource.uri)) || ""}]`;
      default:
        this.#sink.unhandled(`content.${asString(content.type) ?? "(none)"}`);
        return "";
    }
  }

  #endGrowing(): void {
    const growing = this.#growing;
    this.#growing = undefined;
    if (!growing) return;
    const { kind, files, attachments, at } = growing;
    const texts = growing.texts.some(Boolean) ? growing.texts : files;
    const text = texts.filter(Boolean).join(kind === "user_message" ? "\n" : "");
    if (text.trim() === "") return;
    if (kind === "user_message") {
      const words = readUserText(text);
      const last = words.pop();
      if (last) words.push(withAttachments(last, attachments));
      this.#delay(words, at);
    } else if (kind === "agent_thought") this.#delay([makeThought(text)], at);
    else this.#delay([kind === "host" ? makeNotice(text) : { role: "assistant", content: text }], at);
  }

  #add(update: Fields, at: string | undefined): void {
    this.#endGrowing();
    const messages = this.#readMessages(update);
    if (messages.length === 0) this.#sink.skipped();
    this.#delay(messages, at);
    if (update.sessionUpdate === "turn_completed") this.#endTurn(update);
  }

  #readMessages(update: Fields): Message[] {
    const type = asString(update.sessionUpdate) ?? "(none)";
    switch (type) {
      case "tool_call":
        return [this.#makeCall(update), ...this.#readResults(update)];
      case "tool_call_update":
        return this.#readResults(update);
      case "compaction_checkpoint":
        return [makeNotice("The conversation so far was compacted.")];
      case "rewind_marker":
        return [makeNotice("The conversation went back to an earlier point.")];
      case "model_changed":
        this.#model = asString(update.model_id) ?? this.#model;
        return [];
      case "turn_completed":
        return [];
      default:
        if (!skippedUpdates.has(type)) this.#sink.unhandled(type);
        return [];
    }
  }

  #makeCall({ toolCallId, title, rawInput }: Fields): Message {
    const id = asString(toolCallId);
    const name = asString(title) ?? "tool";
    const message = makeToolCall(name, id, rawInput);
    if (id && !isPresent(rawInput)) this.#bare.set(id, { message, name });
    return message;
  }

  #readResults({ toolCallId, status, content, rawInput, rawOutput }: Fields): Message[] {
    const id = asString(toolCallId) ?? "";
    const bare = this.#bare.get(id);
    if (bare && isPresent(rawInput)) {
      Object.assign(bare.message, makeToolCall(bare.name, id, rawInput));
      this.#bare.delete(id);
    }
    if ((status !== "completed" && status !== "failed") || this.#answered.has(id)) return [];
    remember(this.#answered, id);
    this.#bare.delete(id);
    const blocks = listFields(content).map((block) => block.content);
    const text = blocks
      .filter(isFields)
      .map((block) => this.#readText(block))
      .join("");
    const raw = asString(rawOutput) ?? (isPresent(rawOutput) ? JSON.stringify(rawOutput) : "");
    return [makeToolResult(text || raw, { callId: id || undefined, isError: status === "failed" })];
  }

  #delay(messages: Message[], at: string | undefined): void {
    for (const message of messages) {
      if (at) message.createdAt = at;
      this.#delayed.push(message);
    }
    if (this.#delayed.length > maxDelayed) this.#flush();
  }

  /** A turn that is written again counts once. */
  #endTurn({ prompt_id: prompt, usage, stop_reason: stopReason }: Fields): void {
    const key = asString(prompt);
    if (key && this.#counted.has(key)) return;
    if (key) remember(this.#counted, key);
    this.#flush({ ...(isFields(usage) ? readCost(usage) : {}), stopReason });
  }

  #flush(facts: EntryFacts = {}): void {
    this.#endGrowing();
    const delayed = this.#delayed;
    this.#delayed = [];
    const isReplayed = this.#isReplayed;
    const first = delayed.findIndex(({ role }) => role === "assistant");
    const [before, answers] = first === -1 ? [delayed, []] : [delayed.slice(0, first), delayed.slice(first)];
    this.#session.send(before, { isReplayed });
    if (isReplayed) this.#session.send(answers, { isReplayed });
    else this.#session.send(answers, { model: answers.length > 0 ? this.#model : undefined, ...facts });
  }

  end(): void {
    this.#flush();
    this.#session.end();
  }
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

/** An id is repeated soon, or never. */
function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  dropOldest(ids, maxIds);
}

function listAttachments({ type, uri, name, mimeType, resource }: Fields): Fields[] {
  if (type === "text") return [];
  const about = asFields(resource);
  const path = asString(name) ?? asString(uri) ?? asString(about.uri);
  const kind = asString(mimeType) ?? asString(about.mimeType) ?? "file";
  return [makeAttachment(kind, path)];
}

/** The input includes cached tokens. */
function readCost(used: Fields): { usage: Usage; costUsd?: number } {
  const { inputTokens, outputTokens, cachedReadTokens, cacheCreationTokens, reasoningTokens } = used;
  const usage = readTokens(
    {
      inputTokens,
      outputTokens,
      cacheReadTokens: cachedReadTokens,
      cacheWriteTokens: cacheCreationTokens,
      reasoningTokens,
    },
    { includesCache: true },
  );
  const ticks = asCount(used.costUsdTicks);
  const isWhole = used.usageIsIncomplete !== true && used.costIsPartial !== true;
  return { usage, ...(ticks && isWhole && { costUsd: ticks / 1e10 }) };
}
