import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { joinBlockTexts, readAssistantBlocks, readUserBlocks, toBlocks } from "../blocks.ts";
import { makeNotice, makeToolCall, makeToolResult, toNotices } from "../messages.ts";
import type { Originals } from "../originals.ts";
import { type EntryFacts, SessionBuilder } from "../session-builder.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asCount, asFields, asString, asTimestamp, joinTexts, toWords } from "../values.ts";
import { makeEntryKey, parseSessionId } from "./forks.ts";

const skippedTypes = toWords(`
  thinking_level_change custom label leaf archive credential_pin mode_change service_tier_change session_init
  ttsr_injection`);

/**
 * `storedId` is the original's if its file is gone and the server has it; `isTwin` if an older file has the same id.
 */
export type PiSurroundings = {
  originals: Originals<string>;
  storedId: string | undefined;
  prefix: string;
  isTwin: boolean;
};

export class PiSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #prefix: string;
  #commands = 0;
  readonly #originals: Originals<string>;
  /** Earlier lines were copied from an original whose file is gone; in milliseconds since 1970. */
  #forkedAt = 0;
  readonly #storedId: string | undefined;
  readonly #isTwin: boolean;
  /** The title at the file's beginning is rewritten. */
  #currentTitle: unknown;

  constructor(sink: Sink, source: string, fallbackId: string, { originals, storedId, prefix, isTwin }: PiSurroundings) {
    this.#sink = sink;
    this.#prefix = prefix;
    this.#originals = originals;
    this.#storedId = storedId;
    this.#isTwin = isTwin;
    this.#session = new SessionBuilder(sink, source, prefix + fallbackId);
  }

  add(record: Fields): void {
    switch (record.type) {
      case "session":
        this.#begin(record);
        break;
      case "title":
        this.#currentTitle = record.title;
        break;
      case "title_change":
        this.#session.noteTitle(record.title);
        break;
      case "session_info":
        this.#session.noteTitle(record.name);
        break;
      case "model_change":
        this.#noteModel(record);
        break;
      case "model_usage":
        this.#send([], record, record.timestamp, { usage: readUsage(record.usage) });
        return;
      case "usage":
        this.#addRequest(record);
        return;
      case "context_edit":
        this.#send([this.#makeContextEdit(record)], record, record.timestamp);
        return;
      case "reset_boundary":
        this.#send([makeNotice("The conversation so far was cleared.")], record, record.timestamp);
        return;
      case "message":
        this.#addMessage(record);
        return;
      case "compaction":
      case "branch_summary":
        this.#send(toNotices(record.summary), record, record.timestamp, readCost(record));
        return;
      case "custom_message":
        this.#send(this.#readCustom(record), record, record.timestamp);
        return;
      default:
        if (!skippedTypes.has(asString(record.type) ?? "")) this.#sink.unhandled(asString(record.type) ?? "(none)");
    }
    this.#sink.skipped();
  }

  #begin({ id, cwd, title, timestamp, branchedFrom, parentSession }: Fields): void {
    if (asString(id) && !this.#isTwin) this.#session.id = this.#prefix + asString(id);
    this.#session.noteFolder(cwd);
    this.#session.noteTitle(title);
    this.#session.noteTime(timestamp);
    const from = asString(branchedFrom) ?? asString(parentSession);
    if (!from) return;
    this.#session.note("forkedFrom", this.#prefix + parseSessionId(from));
    if (parseSessionId(from) === this.#storedId) this.#forkedAt = parseTime(timestamp);
  }

  noteParent(id: string): void {
    this.#session.note("parent", this.#prefix + id);
  }

  /** Others than Pi write `PROVIDER/ID`, and the part of helpers. */
  #noteModel({ modelId, model, role }: Fields): void {
    if (role === undefined || role === "default")
      this.#session.noteModel(modelId ?? asString(model)?.replace(/^[^/]*\//, ""));
  }

  #addMessage(record: Fields): void {
    const { message } = record;
    if (!isFields(message)) {
      this.#sink.invalid();
      return;
    }
    const at = record.timestamp ?? message.timestamp;
    if (message.role !== "assistant") {
      this.#send(this.#readOtherRoles(message), record, at);
      return;
    }
    const messages = readAssistantBlocks(message.content, this.#unhandled);
    messages.push(...toNotices(message.errorMessage));
    this.#send(messages, record, at, {
      ...readCost(message),
      model: message.model,
      requestId: message.responseId,
      stopReason: message.stopReason,
    });
  }

  #readOtherRoles(message: Fields): Message[] {
    switch (message.role) {
      case "user":
        return readUserBlocks(message.content, this.#unhandled);
      case "toolResult":
        return [this.#makeResult(message)];
      case "bashExecution":
        return this.#readCommand(message);
      case "custom":
        return this.#readCustom(message);
      case "branchSummary":
      case "compactionSummary":
        return toNotices(message.summary);
      case "system":
      case "developer":
        return toBlocks(message.content).flatMap((block) => toNotices(block.text));
      default:
        this.#sink.unhandled(`role.${asString(message.role) ?? "(none)"}`);
        return [];
    }
  }

  #makeResult(message: Fields): Message {
    const isError = message.isError === true;
    const details = asFields(message.details);
    const output = joinBlockTexts(message.content, this.#unhandled);
    const [, code] =
      (isError && message.toolName === "bash" && /\nCommand exited with code (\d{1,3})$/.exec(output)) || [];
    return makeToolResult(output, {
      callId: message.toolCallId,
      isError,
      exitCode: code === undefined ? undefined : Number(code),
      durationMs: asCount(message.durationMs),
      patch: details.patch ?? details.diff,
    });
  }

  /** For example, a request that keeps the cache warm. */
  #addRequest(record: Fields): void {
    const about = joinTexts([record.kind, record.note], ", ");
    const message = makeNotice(`Request beside the conversation: ${about || "unknown"}.`);
    this.#send([message], record, record.timestamp, { ...readCost(record), model: record.model });
  }

  #makeContextEdit({ replacement }: Fields): Message {
    if (!isFields(replacement)) return makeNotice("An earlier message was left out of further requests.");
    const text = joinBlockTexts(replacement.content, this.#unhandled);
    return makeNotice(`An earlier message was replaced in further requests:\n\n${text}`.trim());
  }

  #readCommand({ command, output, exitCode }: Fields): Message[] {
    const callId = `command-${this.#commands++}`;
    const result = makeToolResult(asString(output) ?? "", { callId, exitCode: asCount(exitCode) });
    return [{ ...makeToolCall("bash", callId, { command: asString(command) ?? "" }), role: "user" }, result];
  }

  #readCustom({ content }: Fields): Message[] {
    return toNotices(joinBlockTexts(content, this.#unhandled));
  }

  readonly #unhandled = (type: string) => this.#sink.unhandled(type);

  #send(messages: Message[], record: Fields, at: unknown, facts: EntryFacts = {}): void {
    const isStored = this.#forkedAt > 0 && parseTime(record.timestamp) < this.#forkedAt;
    const isReplayed = this.#originals.recognize(makeEntryKey(record)) || isStored;
    this.#session.add(messages, { at, uuid: record.id, isReplayed, ...facts });
  }

  end(): void {
    this.#session.note("forkedFrom", this.#originals.nearest);
    this.#session.noteTitle(this.#currentTitle);
    this.#session.end();
  }
}

function readCost({ usage }: Fields): Pick<EntryFacts, "usage" | "costUsd"> {
  const costUsd = asFields(asFields(usage).cost).total;
  return { usage: readUsage(usage), costUsd };
}

/** Output includes thoughts. */
function readUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const written = asCount(usage.cacheWrite) ?? 0;
  const hourly = asCount(usage.cacheWrite1h);
  return readTokens({
    inputTokens: usage.input,
    outputTokens: usage.output,
    cacheReadTokens: usage.cacheRead,
    cacheWriteTokens: written,
    ...(hourly !== undefined && { cacheWrite5mTokens: Math.max(0, written - hourly), cacheWrite1hTokens: hourly }),
    reasoningTokens: usage.reasoning,
  });
}

const parseTime = (at: unknown): number => Date.parse(asTimestamp(at) ?? "1970-01-01T00:00:00Z");
