import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { joinBlockTexts, toBlocks } from "../blocks.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { dataText, parseDataUrlType } from "../pictures.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asString } from "../values.ts";
import { type Response, responsesIn } from "./usage.ts";

export const source = "openhands";

/** Events that belong to no message. */
const skippedKinds = new Set(
  `SystemPromptEvent CondensationRequest ConversationStateUpdateEvent TokenEvent LLMCompletionLogEvent
  StreamingDeltaEvent`.split(/\s+/),
);

/** Builds one session from the events of a conversation. */
export class OpenHandsSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #responses: Map<string, Response>;
  readonly #model: string | undefined;

  /** @param state the conversation's own fields, with the tokens of each response */
  constructor(sink: Sink, folder: string, state: Fields) {
    this.#sink = sink;
    this.#session = new SessionBuilder(sink, source, asString(state.id) ?? toConversationId(folder));
    const { agent, workspace } = state;
    const llm = isFields(agent) && isFields(agent.llm) ? agent.llm : {};
    this.#model = asString(llm.model);
    this.#session.noteFolder(isFields(workspace) ? workspace.working_dir : undefined);
    this.#responses = responsesIn(state);
  }

  add(event: Fields): void {
    const messages = this.#readMessages(event);
    if (messages.length === 0) this.#sink.skipped();
    const response = this.#takeResponse(event.llm_response_id);
    const isAnswer = messages.some(({ role }) => role === "assistant");
    this.#session.send(messages, {
      at: localTime(event.timestamp),
      uuid: event.id,
      model: isAnswer ? (response?.model ?? this.#model) : undefined,
      ...(response && { usage: response.usage, costUsd: response.costUsd, requestId: event.llm_response_id }),
    });
  }

  /** What a response used stands with the first event that came in it. */
  #takeResponse(id: unknown): Response | undefined {
    const response = this.#responses.get(asString(id) ?? "");
    if (response) this.#responses.delete(asString(id) ?? "");
    return response;
  }

  #readMessages(event: Fields): Message[] {
    const kind = asString(event.kind) ?? "(none)";
    switch (kind) {
      case "MessageEvent":
        return this.#message(event);
      case "ActionEvent":
        return [...thoughtIn(event), ...this.#words(event.thought, "assistant"), makeCall(event)];
      case "ObservationEvent":
        return this.#observation(event);
      case "UserRejectObservation":
        return [this.#result(event, `Action rejected: ${asString(event.rejection_reason) ?? ""}`)];
      case "AgentErrorEvent":
        return [this.#result(event, asString(event.error) ?? "Error")];
      default:
        return this.#report(kind, event);
    }
  }

  #message({ llm_message: message, extended_content: added }: Fields): Message[] {
    const { role, content } = isFields(message) ? message : ({} as Fields);
    if (role !== "user" && role !== "assistant") {
      this.#sink.unhandled(`role.${asString(role) ?? "(none)"}`);
      return [];
    }
    const context = joinBlockTexts(added, this.#unhandled);
    const thought = role === "assistant" && isFields(message) ? thoughtIn(message) : [];
    return [...thought, ...this.#words(content, role), ...(context ? [notice(context, "user")] : [])];
  }

  /** Texts and images. */
  #words(content: unknown, role: "user" | "assistant"): Message[] {
    return toBlocks(content).flatMap((block) => {
      if (block.type === "image") return imagesIn(block).map((one) => ({ ...one, role }));
      const text = joinBlockTexts([block], this.#unhandled);
      return text.trim() === "" ? [] : [{ role, content: text }];
    });
  }

  #observation(event: Fields): Message[] {
    const observation = isFields(event.observation) ? event.observation : {};
    const about = isFields(observation.metadata) ? observation.metadata : {};
    const blocks = toBlocks(observation.content).map((block) =>
      block.type === "image" ? { type: "text", text: imagesIn(block)[0]?.content ?? "" } : block,
    );
    const output = joinBlockTexts(blocks, this.#unhandled) || (asString(observation.output) ?? "");
    const exitCode = [observation.exit_code, about.exit_code].find((code) => Number.isSafeInteger(code));
    const added = joinBlockTexts(event.extended_content, this.#unhandled);
    const result = toolResult(output, {
      callId: asString(event.tool_call_id),
      isError: observation.is_error === true,
      exitCode: exitCode as number | undefined,
    });
    return [result, ...(added ? [notice(added, "user")] : [])];
  }

  #result({ tool_call_id: callId }: Fields, text: string): Message {
    return toolResult(text, { callId: asString(callId), isError: true });
  }

  /** What the program reports; none where it has no text. */
  #report(kind: string, event: Fields): Message[] {
    const texts: Record<string, unknown> = {
      Condensation: event.summary ?? "The conversation so far was compacted.",
      CondensationSummaryEvent: event.summary,
      ConversationErrorEvent: [event.code, event.detail].map(asString).filter(Boolean).join(": "),
      HookExecutionEvent: event.additional_context ?? event.reason ?? event.error,
      InterruptEvent: "The agent was interrupted.",
      PauseEvent: "The agent was paused.",
    };
    if (!Object.hasOwn(texts, kind) && !skippedKinds.has(kind)) this.#sink.unhandled(kind);
    const text = asString(texts[kind]);
    return text ? [notice(text)] : [];
  }

  readonly #unhandled = (type: string) => this.#sink.unhandled(type);

  /** Ends the session. Responses without an event, such as summaries, are in its sum. */
  end(): void {
    for (const { usage } of this.#responses.values()) this.#session.addUsage(usage);
    this.#session.end();
  }
}

/** A conversation's folder has its id without hyphens. */
const toConversationId = (folder: string): string =>
  folder.replace(/^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/, "$1-$2-$3-$4-$5");

/** A time without a zone is this machine's. */
function localTime(value: unknown): unknown {
  const text = asString(value);
  if (!text || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/.test(text)) return value;
  return Date.parse(text);
}

/** What the model thought, which may be told in several ways, all of them the same. */
function thoughtIn({
  reasoning_content: told,
  thinking_blocks: blocks,
  responses_reasoning_item: item,
}: Fields): Message[] {
  const listed = (Array.isArray(blocks) ? blocks.filter(isFields) : []).flatMap(
    ({ thinking: text }) => asString(text) ?? [],
  );
  const summary = isFields(item) && Array.isArray(item.summary) ? item.summary.filter((text) => asString(text)) : [];
  const text = asString(told) ?? (listed.join("\n") || summary.join("\n"));
  return text ? [thinking(text)] : [];
}

function makeCall({ tool_name: name, tool_call_id: id, tool_call: call, action }: Fields): Message {
  const told = isFields(call) ? call : {};
  const input = asString(told.arguments) ?? action;
  return toolCall(asString(name) ?? asString(told.name) ?? "tool", asString(id) ?? asString(told.id), input);
}

function imagesIn({ image_urls: urls }: Fields): Message[] {
  return (Array.isArray(urls) ? urls : []).map((url) => {
    const type = parseDataUrlType(url);
    const attachment = type ? { type } : { type: "image", name: String(url).slice(0, 2048) };
    return withMetadata({ role: "user", content: dataText("image", type, type && url) }, { attachments: [attachment] });
  });
}
