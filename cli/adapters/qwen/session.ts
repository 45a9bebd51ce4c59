import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { listAttachments, readExitCode, readPartText, readResponse, splitUserText } from "../gemini/response-parts.ts";
import { makeNotice, makeThought, makeToolCall, makeToolResult, toNotices, withAttachments } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asFields, asString, joinTexts, listFields, toWords } from "../values.ts";
import type { FindOriginal } from "./forks.ts";
import { type QwenRun, UnansweredRequests } from "./requests.ts";

export const source = "qwen-code";

const skippedSystem = toWords(`
  ui_telemetry at_command session_artifact_event session_artifact_snapshot session_sources_snapshot file_history_snapshot
  attribution_snapshot custom_title parent_session session_source session_execution_engine session_model session_approval_mode
  session_notes agent_bootstrap agent_retry agent_session_ready user_text_elements branch_checkpoint goal_state goal_turn_end turn_result
  background_task_completed omni_recall managed_session_header_v1 managed_session_event_v1 managed_session_commit_v1`);

const programsRecords = new Set<unknown>(["notification", "cron", "goal_runtime"]);

const injected = /^\s*<(?:qwen:[\w-]+|system-reminder)\b/;

/** The `sourceId`s by calls, and the ids of agents with transcripts. */
export type SessionAgents = { byCall: ReadonlyMap<string, string>; transcripts: ReadonlySet<string> };

export class QwenSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #agents: ReadonlyMap<string, string>;
  readonly #requests: UnansweredRequests | undefined;
  readonly #findOriginal: FindOriginal;
  #hasOwnTitle = false;

  constructor(
    sink: Sink,
    id: string,
    parent?: string,
    own?: SessionAgents & { runs: readonly QwenRun[]; findOriginal: FindOriginal },
  ) {
    this.#sink = sink;
    this.#findOriginal = own?.findOriginal ?? (() => undefined);
    this.#agents = own?.byCall ?? new Map();
    this.#requests = own && new UnansweredRequests(own.runs, own.transcripts);
    this.#session = new SessionBuilder(sink, source, id);
    this.#session.note("parent", parent);
  }

  noteAgent(meta: unknown): void {
    if (!isFields(meta)) return;
    this.#session.noteTitle(meta.description);
    this.#session.noteModel(meta.model);
  }

  add(record: Fields): void {
    this.#session.noteFolder(record.cwd);
    this.#session.note("branch", record.gitBranch);
    this.#session.note("agentVersion", record.version);
    if (isFields(record.systemPayload)) this.#notePayload(record.subtype, record.systemPayload);
    if (isFields(record.forkedFrom)) this.#session.note("forkedFrom", record.forkedFrom.sessionId);
    const from = this.#findOriginal(record);
    const usage = record.type === "assistant" ? readUsage(record.usageMetadata) : undefined;
    if (from === undefined) this.#requests?.addAnswer(record.model, usage);
    if (record.subtype === "ui_telemetry" && isFields(record.systemPayload)) {
      this.#requests?.addEvent(record.systemPayload, from !== undefined);
    }
    const messages = this.#readMessages(record);
    this.#session.add(messages, {
      at: record.timestamp,
      model: record.model,
      usage,
      uuid: record.uuid,
      isReplayed: from !== undefined,
    });
  }

  /** A title from the user stays, whatever the program generates later. */
  #notePayload(subtype: unknown, payload: Fields): void {
    if (subtype === "parent_session") this.#session.note("parent", payload.parentSessionId);
    if (subtype !== "custom_title") return;
    const isGenerated = payload.titleSource === "auto";
    if (!isGenerated || !this.#hasOwnTitle) this.#session.noteTitle(payload.customTitle);
    this.#hasOwnTitle ||= !isGenerated;
  }

  #readMessages(record: Fields): Message[] {
    const message = asFields(record.message);
    const parts = listFields(message.parts);
    switch (record.type) {
      case "user":
        return this.#readUserMessages(parts, record);
      case "assistant":
        return parts.flatMap((part) => this.#readPart(part, "assistant", record));
      case "tool_result":
        return this.#readResults(parts, record);
      case "system":
        return this.#readSystemRecord(record, parts);
      default:
        this.#sink.unhandled(asString(record.type) ?? "(none)");
        return [];
    }
  }

  #readUserMessages(parts: Fields[], record: Fields): Message[] {
    const messages: Message[] = [];
    let words = "";
    for (const part of parts) {
      for (const message of this.#readPart(part, "user", record)) {
        if (message.role === "user" && !message.metadata) words += words ? `\n${message.content}` : message.content;
        else messages.push(message);
      }
    }
    return words.trim() === "" ? messages : [...splitUserText(words), ...messages];
  }

  #readResults(parts: Fields[], record: Fields): Message[] {
    const messages: Message[] = [];
    for (const part of parts) {
      const before = messages.at(-1);
      const isBeside = before?.metadata?.result !== undefined && (part.inlineData ?? part.fileData) !== undefined;
      if (isBeside) before.content = joinTexts([before.content, this.#readText(part)]);
      else messages.push(...this.#readPart(part, "tool", record));
    }
    return messages;
  }

  #readPart(part: Fields, role: "user" | "assistant" | "tool", record: Fields): Message[] {
    if (isFields(part.functionCall)) {
      const { id, name, args } = part.functionCall;
      return [makeToolCall(name, id, args)];
    }
    if (isFields(part.functionResponse)) return [makeResult(part.functionResponse, record, this.#agents)];
    const text = this.#readText(part);
    if (text.trim() === "") return [];
    const attachments = role === "user" ? listAttachments(part) : [];
    if (attachments.length > 0) return [withAttachments({ role, content: text }, attachments)];
    if (part.thought === true) return [makeThought(text)];
    if (role !== "user") return [{ role, content: text }];
    const isInjected = injected.test(text) || programsRecords.has(record.subtype);
    return [isInjected ? makeNotice(text, "user") : { role: "user", content: text }];
  }

  readonly #readText = (part: Fields): string => readPartText(part, (type) => this.#sink.unhandled(type));

  /** A system record with a text is shown, whatever its name. */
  #readSystemRecord({ subtype, systemPayload }: Fields, parts: Fields[]): Message[] {
    const name = asString(subtype) ?? "(none)";
    if (skippedSystem.has(name)) return [];
    const payload = asFields(systemPayload);
    if (name === "slash_command") return readCommand(payload);
    if (name === "rewind") return [makeNotice("The conversation went back to an earlier point.")];
    if (name !== "chat_compression") this.#sink.unhandled(`system.${name}`);
    return toNotices(joinTexts([...parts.map((part) => part.text), payload.summary, payload.displayText]));
  }

  end(): void {
    for (const [model, usage] of this.#requests?.listRemaining() ?? []) this.#session.addRequests(model, usage);
    this.#session.end();
  }
}

function readCommand({ phase, rawCommand, sentToModel, hiddenInvocation, outputHistoryItems }: Fields): Message[] {
  if (phase === "invocation") {
    const command = sentToModel === true || hiddenInvocation === true ? undefined : asString(rawCommand);
    return command ? [{ role: "user", content: command, metadata: { kind: "command" } }] : [];
  }
  const items = listFields(outputHistoryItems).filter(({ type }) => type !== "user");
  return items.flatMap(({ text }) => toNotices(text));
}

function makeResult(part: Fields, { toolCallResult }: Fields, agents: ReadonlyMap<string, string>): Message {
  const about = asFields(toolCallResult);
  const callId = asString(part.id) ?? asString(about.callId);
  const output = readResponse(part) || (asString(about.resultDisplay) ?? "");
  return makeToolResult(output, {
    callId,
    exitCode: readExitCode(part.name, output),
    session: agents.get(callId ?? ""),
    isError: about.status === "error" || about.status === "cancelled",
    patch: asFields(about.resultDisplay).fileDiff,
  });
}

function readUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  return readTokens(
    {
      inputTokens: usage.promptTokenCount,
      outputTokens: usage.candidatesTokenCount,
      cacheReadTokens: usage.cachedContentTokenCount,
      reasoningTokens: usage.thoughtsTokenCount,
    },
    { includesCache: true },
  );
}
