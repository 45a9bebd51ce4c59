import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { responseText } from "../gemini/messages.ts";
import { userMessages } from "../gemini/references.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { inlineText } from "../pictures.ts";
import { SessionBuilder } from "../session-builder.ts";
import { exitCodeIn } from "../shell-report.ts";
import type { Usage } from "../usage.ts";
import { asString } from "../values.ts";
import type { FindOriginal } from "./forks.ts";
import { Requests } from "./requests.ts";
import { type Run, readTokens } from "./runs.ts";

export const source = "qwen-code";

/** System records that belong to no message. */
const skippedSystem = new Set(
  `ui_telemetry at_command session_artifact_event session_artifact_snapshot session_sources_snapshot file_history_snapshot
  attribution_snapshot custom_title parent_session session_source session_execution_engine session_model session_approval_mode
  session_notes agent_bootstrap agent_retry agent_session_ready user_text_elements branch_checkpoint goal_state goal_turn_end turn_result
  background_task_completed omni_recall managed_session_header_v1 managed_session_event_v1 managed_session_commit_v1`.split(
    /\s+/,
  ),
);

/** Subtypes of records in the user's place that the program wrote. */
const programsRecords = new Set<unknown>(["notification", "cron", "goal_runtime"]);

/** How parts of a user's message begin that the program or a hook added. */
const injected = /^\s*<(?:qwen:[\w-]+|system-reminder)\b/;

/** A session's own agents: the `sourceId`s by the calls that started them, and the ids of those that have transcripts. */
export type Agents = { byCall: ReadonlyMap<string, string>; transcripts: ReadonlySet<string> };

/** Builds one session from the records of a file. */
export class QwenSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #agents: ReadonlyMap<string, string>;
  readonly #requests: Requests | undefined;
  readonly #findOriginal: FindOriginal;
  #hasOwnTitle = false;

  /**
   * @param parent the session that a background agent works for
   * @param own the agents and the runs of a session that is no agent's
   */
  constructor(
    sink: Sink,
    id: string,
    parent?: string,
    own?: Agents & { runs: readonly Run[]; findOriginal: FindOriginal },
  ) {
    this.#sink = sink;
    this.#findOriginal = own?.findOriginal ?? (() => undefined);
    this.#agents = own?.byCall ?? new Map();
    this.#requests = own && new Requests(own.runs, own.transcripts);
    this.#session = new SessionBuilder(sink, source, id);
    this.#session.note("parent", parent);
  }

  /** Notes what stands beside a background agent's transcript. */
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
    if (messages.length === 0) this.#sink.skipped();
    this.#session.send(messages, {
      at: record.timestamp,
      model: record.model,
      usage,
      uuid: record.uuid,
      isReplayed: from !== undefined,
    });
  }

  /** A title that the user gave stays, whatever the program finds later. */
  #notePayload(subtype: unknown, payload: Fields): void {
    if (subtype === "parent_session") this.#session.note("parent", payload.parentSessionId);
    if (subtype !== "custom_title") return;
    const isGenerated = payload.titleSource === "auto";
    if (!isGenerated || !this.#hasOwnTitle) this.#session.noteTitle(payload.customTitle);
    this.#hasOwnTitle ||= !isGenerated;
  }

  #readMessages(record: Fields): Message[] {
    const message = isFields(record.message) ? record.message : {};
    const parts = Array.isArray(message.parts) ? message.parts.filter(isFields) : [];
    switch (record.type) {
      case "user":
        return this.#userMessages(parts, record);
      case "assistant":
        return parts.flatMap((part) => this.#part(part, "assistant", record));
      case "tool_result":
        return this.#results(parts, record);
      case "system":
        return this.#system(record, parts);
      default:
        this.#sink.unhandled(asString(record.type) ?? "(none)");
        return [];
    }
  }

  /** The user's words are one message, however many parts they came in, apart from what the program added to them. */
  #userMessages(parts: Fields[], record: Fields): Message[] {
    const messages: Message[] = [];
    let words = "";
    for (const part of parts) {
      for (const message of this.#part(part, "user", record)) {
        if (message.role === "user" && !message.metadata) words += words ? `\n${message.content}` : message.content;
        else messages.push(message);
      }
    }
    return words.trim() === "" ? messages : [...userMessages(words), ...messages];
  }

  /** A tool's results; what stands beside one, such as a picture, is a part of it. */
  #results(parts: Fields[], record: Fields): Message[] {
    const messages: Message[] = [];
    for (const part of parts) {
      const before = messages.at(-1);
      const isBeside = before?.metadata?.result !== undefined && (part.inlineData ?? part.fileData) !== undefined;
      if (isBeside) before.content = [before.content, this.#text(part)].filter(Boolean).join("\n");
      else messages.push(...this.#part(part, "tool", record));
    }
    return messages;
  }

  #part(part: Fields, role: "user" | "assistant" | "tool", record: Fields): Message[] {
    if (isFields(part.functionCall)) {
      const { id, name, args } = part.functionCall;
      return [toolCall(asString(name) ?? "tool", asString(id), args)];
    }
    if (isFields(part.functionResponse)) return [makeResult(part.functionResponse, record, this.#agents)];
    const text = this.#text(part);
    if (text.trim() === "") return [];
    const attachment = role === "user" ? attachmentIn(part) : undefined;
    if (attachment) return [withMetadata({ role, content: text }, { attachments: [attachment] })];
    if (part.thought === true) return [thinking(text)];
    if (role !== "user") return [{ role, content: text }];
    const isInjected = injected.test(text) || programsRecords.has(record.subtype);
    return [isInjected ? notice(text, "user") : { role: "user", content: text }];
  }

  #text(part: Fields): string {
    if (typeof part.text === "string") return part.text;
    if (isFields(part.inlineData)) return inlineText(part.inlineData);
    if (isFields(part.fileData)) return `[file: ${asString(part.fileData.fileUri) ?? ""}]`;
    this.#sink.unhandled(`content.${Object.keys(part)[0] ?? "(none)"}`);
    return "";
  }

  /** A system record with a text is shown, whatever its name. */
  #system({ subtype, systemPayload }: Fields, parts: Fields[]): Message[] {
    const name = asString(subtype) ?? "(none)";
    if (skippedSystem.has(name)) return [];
    const payload = isFields(systemPayload) ? systemPayload : {};
    if (name === "slash_command") return commandMessages(payload);
    if (name === "rewind") return [notice("The conversation went back to an earlier point.")];
    const texts = [
      ...parts.map((part) => asString(part.text)),
      asString(payload.summary),
      asString(payload.displayText),
    ];
    const text = texts.filter(Boolean).join("\n");
    if (name !== "chat_compression") this.#sink.unhandled(`system.${name}`);
    return text ? [notice(text)] : [];
  }

  end(): void {
    for (const [model, usage] of this.#requests?.rest() ?? []) this.#session.addRequests(model, usage);
    this.#session.end();
  }
}

/** A command of the program, and what it showed. */
function commandMessages({ phase, rawCommand, sentToModel, hiddenInvocation, outputHistoryItems }: Fields): Message[] {
  if (phase === "invocation") {
    const command = sentToModel === true || hiddenInvocation === true ? undefined : asString(rawCommand);
    return command ? [{ role: "user", content: command, metadata: { kind: "command" } }] : [];
  }
  const items = Array.isArray(outputHistoryItems) ? outputHistoryItems.filter(isFields) : [];
  return items
    .filter(({ type }) => type !== "user")
    .flatMap(({ text }) => (asString(text) ? [notice(String(text))] : []));
}

function attachmentIn({ inlineData, fileData }: Fields): Fields | undefined {
  const file = isFields(inlineData) ? inlineData : fileData;
  if (!isFields(file)) return undefined;
  const [type, name] = [asString(file.mimeType), asString(file.displayName) ?? asString(file.fileUri)];
  return { ...(type && { type }), ...(name && { name: name.slice(0, 2048) }) };
}

/** A tool's result, with what the program noted beside it: whether it failed, and the change it made. */
function makeResult(part: Fields, { toolCallResult }: Fields, agents: ReadonlyMap<string, string>): Message {
  const about = isFields(toolCallResult) ? toolCallResult : {};
  const display = isFields(about.resultDisplay) ? about.resultDisplay : {};
  const callId = asString(part.id) ?? asString(about.callId);
  const isError = about.status === "error" || about.status === "cancelled";
  const output = responseText(part) || (asString(about.resultDisplay) ?? "");
  return toolResult(output, {
    callId,
    exitCode: exitCodeIn(part.name, output),
    session: agents.get(callId ?? ""),
    isError,
    patch: asString(display.fileDiff),
  });
}

function readUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const { promptTokenCount, candidatesTokenCount, cachedContentTokenCount, thoughtsTokenCount } = usage;
  return readTokens(promptTokenCount, candidatesTokenCount, cachedContentTokenCount, thoughtsTokenCount);
}
