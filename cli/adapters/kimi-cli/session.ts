import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { parseDataUrlType, urlText } from "../pictures.ts";
import { type EntryFacts, SessionBuilder } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString, asTimestamp } from "../values.ts";

/** Messages of a step wait for its tokens; beyond this number they are sent without. */
const maxHeld = 50;
const maxAgents = 1000;

/** Records that repeat a message or belong to none. A sub-agent's events are in its own log, too. */
const skippedTypes = new Set(
  `TurnEnd StepBegin StepRetry CompactionEnd HookTriggered MCPLoadingBegin MCPLoadingEnd SubagentEvent ToolCallPart
  ApprovalRequest ApprovalResponse ApprovalRequestResolved QuestionRequest QuestionResponse ToolCallRequest HookRequest
  HookResponse`.split(/\s+/),
);

/** Builds one session from the log of Kimi CLI, the predecessor of Kimi Code. */
export class KimiCliSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #sessionId: string;
  /** The sub-agents that calls started. */
  readonly #agents = new Map<string, string>();
  #held: Message[] = [];
  #at: number | undefined;

  /** @param agent a sub-agent of the session's, whose own session is `ID/AGENT` */
  constructor(sink: Sink, sessionId: string, agent: string | undefined) {
    this.#sink = sink;
    this.#sessionId = sessionId;
    this.#session = new SessionBuilder(sink, "kimi-cli", agent ? `${sessionId}/${agent}` : sessionId);
    if (agent) this.#session.note("parent", sessionId);
  }

  noteFolder(path: string | undefined): void {
    this.#session.noteFolder(path);
  }

  add(record: Fields): void {
    if (record.type === "metadata") {
      this.#sink.skipped();
      return;
    }
    const { type, payload } = isFields(record.message) ? record.message : ({} as Fields);
    if (!isFields(payload)) {
      this.#sink.invalid();
      return;
    }
    if (typeof record.timestamp === "number") this.#at = Math.round(record.timestamp * 1000);
    if (type === "SubagentEvent") this.#noteAgent(payload);
    if (type === "StatusUpdate") this.#addStatus(payload);
    else this.#addMessages(String(type), this.#readMessages(String(type), payload));
  }

  #noteAgent({ parent_tool_call_id: call, agent_id: agent }: Fields): void {
    const [callId, id] = [asString(call), asString(agent)];
    if (callId && id && this.#agents.size < maxAgents) this.#agents.set(callId, `${this.#sessionId}/${id}`);
  }

  #addStatus({ token_usage: usage, message_id: requestId }: Fields): void {
    this.#sink.skipped();
    if (isFields(usage)) this.#flush({ usage: readUsage(usage), requestId });
  }

  #addMessages(type: string, messages: Message[]): void {
    if (messages.length === 0) this.#sink.skipped();
    if (type === "StepBegin" || type === "TurnBegin") this.#flush();
    const createdAt = asTimestamp(this.#at);
    this.#held.push(...messages.map((message) => (createdAt ? { ...message, createdAt } : message)));
    if (this.#held.length > maxHeld) this.#flush();
  }

  #readMessages(type: string, payload: Fields): Message[] {
    switch (type) {
      case "TurnBegin":
      case "SteerInput":
        return this.#parts(payload.user_input, "user");
      case "ContentPart":
        return this.#parts([payload], "assistant");
      case "ToolCall": {
        const { name, arguments: input } = isFields(payload.function) ? payload.function : ({} as Fields);
        return [toolCall(asString(name) ?? "tool", asString(payload.id), input)];
      }
      case "ToolResult":
        return [this.#result(payload)];
      case "StepInterrupted":
        return [notice("The step was interrupted.")];
      case "CompactionBegin":
        return [notice("The conversation so far was compacted.")];
      case "Notification":
        return makeNotices([payload.title, payload.body]);
      case "PlanDisplay":
        return makeNotices([payload.content]);
      case "BtwBegin":
        return makeNotices([payload.question]);
      case "BtwEnd":
        return makeNotices([payload.response ?? payload.error]);
      case "HookResolved":
        return makeNotices([payload.reason]);
      default:
        if (!skippedTypes.has(type)) this.#sink.unhandled(`message.${type}`);
        return [];
    }
  }

  #parts(content: unknown, role: "user" | "assistant"): Message[] {
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return (Array.isArray(parts) ? parts.filter(isFields) : []).flatMap((part) => this.#part(part, role));
  }

  #part(part: Fields, role: "user" | "assistant"): Message[] {
    const type = asString(part.type) ?? "(none)";
    const [, kind] = /^(image|audio|video)_url$/.exec(type) ?? [];
    if (type === "text") return asString(part.text)?.trim() ? [{ role, content: String(part.text) }] : [];
    if (type === "think") return asString(part.think) ? [thinking(String(part.think))] : [];
    if (kind) return [fileMessage(kind, part[type], role)];
    this.#sink.unhandled(`content.${type}`);
    return [];
  }

  #result(payload: Fields): Message {
    const {
      output,
      message,
      is_error: isError,
    } = isFields(payload.return_value) ? payload.return_value : ({} as Fields);
    const text =
      typeof output === "string"
        ? output
        : this.#parts(output, "assistant")
            .map(({ content }) => content)
            .join("\n");
    const callId = asString(payload.tool_call_id);
    return toolResult(text || (asString(message) ?? ""), {
      callId,
      session: this.#agents.get(callId ?? ""),
      isError: isError === true,
    });
  }

  #flush(facts: EntryFacts = {}): void {
    const held = this.#held;
    this.#held = [];
    // A user's words may still wait: the tokens are the answer's.
    const first = held.findIndex(({ role }) => role === "assistant");
    const at = this.#at;
    if (first > 0) this.#session.send(held.slice(0, first), { at });
    this.#session.send(first > 0 ? held.slice(first) : held, { at, ...facts });
  }

  /** Ends the session. @param title the one that the user gave, or that was generated */
  end(title: unknown): void {
    this.#flush();
    this.#session.noteTitle(title);
    this.#session.end();
  }
}

function makeNotices(texts: unknown[]): Message[] {
  const text = texts.map(asString).filter(Boolean).join("\n");
  return text ? [notice(text)] : [];
}

/** A file by its type, or by its address. */
function fileMessage(kind: string, file: unknown, role: "user" | "assistant"): Message {
  const url = (isFields(file) ? asString(file.url) : undefined) ?? "";
  const type = parseDataUrlType(url);
  return withMetadata(
    { role, content: urlText(kind, url) },
    { attachments: [type ? { type } : { type: kind, name: url.slice(0, 2048) }] },
  );
}

const readUsage = (usage: Fields): Usage => ({
  inputTokens: asCount(usage.input_other) ?? 0,
  outputTokens: asCount(usage.output) ?? 0,
  cacheReadTokens: asCount(usage.input_cache_read) ?? 0,
  cacheWriteTokens: asCount(usage.input_cache_creation) ?? 0,
});
