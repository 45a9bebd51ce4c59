import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { joinBlockTexts, toBlocks } from "../blocks.ts";
import { makeToolCall, makeToolResult, toNotices, toTexts, toThoughts } from "../messages.ts";
import { makePicture } from "../pictures.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asFields, asString, joinTexts, listFields, toWords } from "../values.ts";
import { type Response, readResponses } from "./usage.ts";

export const source = "openhands";

const skippedKinds = toWords(`
  SystemPromptEvent CondensationRequest ConversationStateUpdateEvent TokenEvent LLMCompletionLogEvent
  StreamingDeltaEvent`);

export class OpenHandsSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #responses: Map<string, Response>;
  readonly #model: string | undefined;

  constructor(sink: Sink, folder: string, state: Fields) {
    this.#sink = sink;
    this.#session = new SessionBuilder(sink, source, asString(state.id) ?? toConversationId(folder));
    const { agent, workspace } = state;
    const llm = asFields(asFields(agent).llm);
    this.#model = asString(llm.model);
    this.#session.noteFolder(asFields(workspace).working_dir);
    this.#responses = readResponses(state);
  }

  add(event: Fields): void {
    const messages = this.#readMessages(event);
    const response = this.#takeResponse(event.llm_response_id);
    const isAnswer = messages.some(({ role }) => role === "assistant");
    this.#session.add(messages, {
      at: parseLocalTime(event.timestamp),
      uuid: event.id,
      model: isAnswer ? (response?.model ?? this.#model) : undefined,
      ...(response && { usage: response.usage, costUsd: response.costUsd, requestId: event.llm_response_id }),
    });
  }

  #takeResponse(id: unknown): Response | undefined {
    const response = this.#responses.get(asString(id) ?? "");
    if (response) this.#responses.delete(asString(id) ?? "");
    return response;
  }

  #readMessages(event: Fields): Message[] {
    const kind = asString(event.kind) ?? "(none)";
    switch (kind) {
      case "MessageEvent":
        return this.#readMessage(event);
      case "ActionEvent":
        return [...readThought(event), ...this.#readWords(event.thought, "assistant"), makeCall(event)];
      case "ObservationEvent":
        return this.#readObservation(event);
      case "UserRejectObservation":
        return [this.#makeResult(event, `Action rejected: ${asString(event.rejection_reason) ?? ""}`)];
      case "AgentErrorEvent":
        return [this.#makeResult(event, asString(event.error) ?? "Error")];
      default:
        return this.#readReport(kind, event);
    }
  }

  #readMessage({ llm_message: message, extended_content: added }: Fields): Message[] {
    const { role, content } = asFields(message);
    if (role !== "user" && role !== "assistant") {
      this.#sink.unhandled(`role.${asString(role) ?? "(none)"}`);
      return [];
    }
    const context = joinBlockTexts(added, this.#unhandled);
    const thought = role === "assistant" && isFields(message) ? readThought(message) : [];
    return [...thought, ...this.#readWords(content, role), ...toNotices(context, "user")];
  }

  #readWords(content: unknown, role: "user" | "assistant"): Message[] {
    return toBlocks(content).flatMap((block) => {
      if (block.type === "image") return listPictures(block).map((one) => ({ ...one, role }));
      return toTexts(role, joinBlockTexts([block], this.#unhandled));
    });
  }

  #readObservation(event: Fields): Message[] {
    const observation = asFields(event.observation);
    const blocks = toBlocks(observation.content).map((block) =>
      block.type === "image" ? { type: "text", text: listPictures(block)[0]?.content ?? "" } : block,
    );
    const output = joinBlockTexts(blocks, this.#unhandled) || (asString(observation.output) ?? "");
    const added = joinBlockTexts(event.extended_content, this.#unhandled);
    const result = makeToolResult(output, {
      callId: event.tool_call_id,
      isError: observation.is_error === true,
      exitCode: observation.exit_code ?? asFields(observation.metadata).exit_code,
    });
    return [result, ...toNotices(added, "user")];
  }

  #makeResult({ tool_call_id: callId }: Fields, text: string): Message {
    return makeToolResult(text, { callId, isError: true });
  }

  #readReport(kind: string, event: Fields): Message[] {
    const texts: Record<string, unknown> = {
      Condensation: event.summary ?? "The conversation so far was compacted.",
      CondensationSummaryEvent: event.summary,
      ConversationErrorEvent: joinTexts([event.code, event.detail], ": "),
      HookExecutionEvent: event.additional_context ?? event.reason ?? event.error,
      InterruptEvent: "The agent was interrupted.",
      PauseEvent: "The agent was paused.",
    };
    if (!Object.hasOwn(texts, kind) && !skippedKinds.has(kind)) this.#sink.unhandled(kind);
    return toNotices(texts[kind]);
  }

  readonly #unhandled = (type: string) => this.#sink.unhandled(type);

  end(): void {
    for (const { usage } of this.#responses.values()) this.#session.addUsage(usage);
    this.#session.end();
  }
}

/** A folder's name is the conversation's id without hyphens. */
const toConversationId = (folder: string): string =>
  folder.replace(/^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/, "$1-$2-$3-$4-$5");

/** A time without a zone is this machine's. */
function parseLocalTime(value: unknown): unknown {
  const text = asString(value);
  if (!text || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/.test(text)) return value;
  return Date.parse(text);
}

/** A thought may be written in several ways, which are all the same. */
function readThought({
  reasoning_content: thought,
  thinking_blocks: blocks,
  responses_reasoning_item: item,
}: Fields): Message[] {
  const { summary } = asFields(item);
  const listed = joinTexts(listFields(blocks).map(({ thinking }) => thinking));
  return toThoughts(asString(thought) ?? (listed || joinTexts(Array.isArray(summary) ? summary : [])));
}

function makeCall({ tool_name: name, tool_call_id: id, tool_call: call, action }: Fields): Message {
  const details = asFields(call);
  const input = asString(details.arguments) ?? action;
  return makeToolCall(name ?? details.name, id ?? details.id, input);
}

const listPictures = ({ image_urls: urls }: Fields): Message[] => (Array.isArray(urls) ? urls : []).map(makePicture);
