import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import {
  makeNotice,
  makeToolResult,
  toFunctionCall,
  toNotices,
  toTexts,
  toThoughts,
  withAttachments,
  withTime,
} from "../messages.ts";
import { describeUrl, formatUrl } from "../pictures.ts";
import { type EntryFacts, SessionBuilder } from "../session-builder.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asFields, asString, joinTexts, listFields, toWords } from "../values.ts";

/** Messages are sent without tokens beyond this number. */
const maxDelayed = 50;
const maxAgents = 1000;

const skippedTypes = toWords(`
  TurnEnd StepBegin StepRetry CompactionEnd HookTriggered MCPLoadingBegin MCPLoadingEnd SubagentEvent ToolCallPart
  ApprovalRequest ApprovalResponse ApprovalRequestResolved QuestionRequest QuestionResponse ToolCallRequest HookRequest
  HookResponse`);

export class KimiCliSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #sessionId: string;
  readonly #agents = new Map<string, string>();
  #delayed: Message[] = [];
  #at: number | undefined;

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
    const { type, payload } = asFields(record.message);
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
    this.#delayed.push(...messages.map((message) => withTime(message, this.#at)));
    if (this.#delayed.length > maxDelayed) this.#flush();
  }

  #readMessages(type: string, payload: Fields): Message[] {
    switch (type) {
      case "TurnBegin":
      case "SteerInput":
        return this.#readParts(payload.user_input, "user");
      case "ContentPart":
        return this.#readParts([payload], "assistant");
      case "ToolCall":
        return [toFunctionCall(payload)];
      case "ToolResult":
        return [this.#readResult(payload)];
      case "StepInterrupted":
        return [makeNotice("The step was interrupted.")];
      case "CompactionBegin":
        return [makeNotice("The conversation so far was compacted.")];
      case "Notification":
        return toNotices(joinTexts([payload.title, payload.body]));
      case "PlanDisplay":
        return toNotices(payload.content);
      case "BtwBegin":
        return toNotices(payload.question);
      case "BtwEnd":
        return toNotices(payload.response ?? payload.error);
      case "HookResolved":
        return toNotices(payload.reason);
      default:
        if (!skippedTypes.has(type)) this.#sink.unhandled(`message.${type}`);
        return [];
    }
  }

  #readParts(content: unknown, role: "user" | "assistant"): Message[] {
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return listFields(parts).flatMap((part) => this.#readPart(part, role));
  }

  #readPart(part: Fields, role: "user" | "assistant"): Message[] {
    const type = asString(part.type) ?? "(none)";
    const [, kind] = /^(image|audio|video)_url$/.exec(type) ?? [];
    if (type === "text") return toTexts(role, part.text);
    if (type === "think") return toThoughts(part.think);
    if (kind) return [makeFileMessage(kind, part[type], role)];
    this.#sink.unhandled(`content.${type}`);
    return [];
  }

  #readResult(payload: Fields): Message {
    const { output, message, is_error: isError } = asFields(payload.return_value);
    const text =
      typeof output === "string"
        ? output
        : this.#readParts(output, "assistant")
            .map(({ content }) => content)
            .join("\n");
    const callId = asString(payload.tool_call_id);
    return makeToolResult(text || (asString(message) ?? ""), {
      callId,
      session: this.#agents.get(callId ?? ""),
      isError: isError === true,
    });
  }

  #flush(facts: EntryFacts = {}): void {
    const delayed = this.#delayed;
    this.#delayed = [];
    // The tokens are the answer's.
    const first = delayed.findIndex(({ role }) => role === "assistant");
    const at = this.#at;
    if (first > 0) this.#session.send(delayed.slice(0, first), { at });
    this.#session.send(first > 0 ? delayed.slice(first) : delayed, { at, ...facts });
  }

  end(title: unknown): void {
    this.#flush();
    this.#session.noteTitle(title);
    this.#session.end();
  }
}

function makeFileMessage(kind: string, file: unknown, role: "user" | "assistant"): Message {
  const url = asString(asFields(file).url) ?? "";
  return withAttachments({ role, content: formatUrl(kind, url) }, [describeUrl(kind, url)]);
}

const readUsage = (usage: Fields): Usage =>
  readTokens({
    inputTokens: usage.input_other,
    outputTokens: usage.output,
    cacheReadTokens: usage.input_cache_read,
    cacheWriteTokens: usage.input_cache_creation,
  });
