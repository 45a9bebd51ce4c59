import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { makeAttachment, makeNotice, makeThought, makeToolCall, toNotices, withAttachments } from "../messages.ts";
import type { SessionBuilder } from "../session-builder.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asCount, asFields, asString, asTimestamp, listFields, toWords } from "../values.ts";
import { getMarkdown, getPath, TurnCalls } from "./calls.ts";

const skippedParts = toWords(`
  autoModeResolution clearToPreviousToolInvocation codeblockUri codeCitation command disabledClaudeHooks extensions
  externalEdit mcpAuthenticationRequired mcpServersStarting mcpServersStartingSlow multiDiffData prepareToolInvocation
  progressMessage progressTask progressTaskSerialized reference systemNotification treeData undoStop usage usedContext
  voiceProgress workspaceEdit`);

const isCall = ({ kind }: Fields): boolean => kind === "toolInvocationSerialized" || kind === "toolInvocation";

export class ChatTurn {
  readonly #sink: Sink;
  readonly #request: Fields;
  readonly #result: Fields;
  #messages: Message[] = [];
  #text = "";

  constructor(sink: Sink, request: Fields) {
    this.#sink = sink;
    this.#request = request;
    this.#result = asFields(request.result);
  }

  send(session: SessionBuilder): void {
    const request = this.#request;
    const metadata = asFields(this.#result.metadata);
    const at = asCount(request.timestamp) || undefined;
    session.send(readQuestion(request), { at });
    const parts = listParts(request.response);
    this.#addParts(parts, new TurnCalls(metadata));
    const { errorDetails } = this.#result;
    this.#messages.push(...toNotices(asFields(errorDetails).message));
    const ended = asCount(asFields(request.modelState).completedAt);
    const last = this.#messages.at(-1);
    const endedAt = asTimestamp(ended);
    if (ended && endedAt && at && ended >= at && last) last.createdAt = endedAt;
    session.send(this.#messages, {
      at,
      model: findModel(request, parts, metadata),
      usage: readUsage(request, metadata),
    });
  }

  #addParts(parts: Fields[], calls: TurnCalls): void {
    const shown = new Map<unknown, Fields>();
    // A call is written again when its state has changed.
    for (const part of parts) if (isCall(part)) shown.set(part.toolCallId ?? part.id ?? part, part);
    const ids = calls.matchIdsByOrder([...shown.values()]);
    const hasCalls = shown.size > 0;
    for (const part of parts) {
      const key = part.toolCallId ?? part.id ?? part;
      const call = isCall(part) ? shown.get(key) : undefined;
      if (call) {
        shown.delete(key);
        this.#flush();
        this.#messages.push(...calls.readMessages(call, ids.get(call.toolCallId)));
      } else if (!isCall(part)) this.#addPart(part, hasCalls);
    }
    this.#flush();
    this.#messages.push(...calls.listRemaining());
    if (!this.#messages.some(isAnswer)) this.#addLastWords();
  }

  #addPart(part: Fields, hasCalls: boolean): void {
    const kind = asString(part.kind);
    switch (kind) {
      case undefined:
        this.#text += getMarkdown(part);
        break;
      case "markdownContent":
      case "markdownVuln":
        this.#text += getMarkdown(part.content);
        break;
      case "inlineReference":
        this.#text += formatReference(part);
        break;
      case "thinking": {
        const text = Array.isArray(part.value) ? part.value.filter(asString).join("\n") : asString(part.value);
        if (text) this.#push(makeThought(text));
        break;
      }
      case "textEditGroup":
      case "notebookEditGroup":
        // If there are calls, they made these changes.
        if (!hasCalls) this.#push(makeEdit(kind, part));
        break;
      case "questionCarousel":
        this.#push(
          makeToolCall("ask_questions", asString(part.resolveId), { questions: part.questions, answers: part.data }),
        );
        break;
      default:
        this.#addNotice(kind, part);
    }
  }

  #addNotice(kind: string, part: Fields): void {
    const texts: Record<string, unknown[]> = {
      warning: [part.content],
      info: [part.content],
      confirmation: [part.title, part.message],
      elicitation: [part.title, part.message],
      elicitationSerialized: [part.title, part.message],
      planReview: [part.title, part.content],
      pullRequest: [part.title, isFields(part.uri) ? `https://${part.uri.authority}${part.uri.path}` : undefined],
      hook: [part.systemMessage, part.stopReason],
    };
    const given = Object.hasOwn(texts, kind) ? texts[kind] : undefined;
    if (!given && !skippedParts.has(kind)) this.#sink.unhandled(`response.${kind}`);
    const text = (given ?? []).map(getMarkdown).filter(Boolean).join("\n");
    if (text) this.#push(makeNotice(text));
  }

  #push(message: Message): void {
    this.#flush();
    this.#messages.push(message);
  }

  #flush(): void {
    const text = this.#text;
    this.#text = "";
    if (text.trim() !== "") this.#messages.push({ role: "assistant", content: text.trim() });
  }

  #addLastWords(): void {
    const metadata = asFields(this.#result.metadata);
    const listed = listFields(metadata.messages);
    const rounds = listFields(metadata.toolCallRounds);
    const text =
      asString(listed.findLast(({ role }) => role === "assistant")?.content) ?? asString(rounds.at(-1)?.response);
    if (text) this.#messages.push({ role: "assistant", content: text });
  }
}

const isAnswer = ({ role, metadata }: Message): boolean => role === "assistant" && metadata?.kind !== "thinking";

function listParts(response: unknown): Fields[] {
  const parts: unknown[] = Array.isArray(response) ? response : [response];
  return parts.map((part) => (typeof part === "string" ? { value: part } : part)).filter(isFields);
}

function readQuestion(request: Fields): Message[] {
  const { message, variableData } = request;
  const parts = listFields(asFields(message).parts);
  const text =
    asString(message) ??
    (isFields(message) ? (asString(message.text) ?? parts.map((part) => asString(part.text) ?? "").join("")) : "");
  const variables = isFields(variableData) && Array.isArray(variableData.variables) ? variableData.variables : [];
  const attachments = variables.filter(isFields).flatMap(readAttachment);
  if (text.trim() === "" && attachments.length === 0) return [];
  if (request.isSystemInitiated === true) return [makeNotice(text, "user")];
  const content = text || attachments.map(({ name }) => `[${name ?? "attachment"}]`).join(" ");
  return [withAttachments({ role: "user", content }, attachments)];
}

function readAttachment({ kind, name, mimeType, isFile, isDirectory }: Fields): Fields[] {
  const type = asString(mimeType) ?? asString(kind) ?? (isFile ? "file" : isDirectory ? "directory" : undefined);
  if (["implicit", "workspace", "promptText", "promptFile", "tool", "toolset", undefined].includes(type)) return [];
  return [makeAttachment(type, name)];
}

function formatReference({ name, inlineReference }: Fields): string {
  const path = isFields(inlineReference) ? getPath(inlineReference) : "";
  const shown = asString(name) ?? asString(asFields(inlineReference).name) ?? path;
  return shown ? `\`${shown}\`` : "";
}

function makeEdit(kind: string, { uri, edits }: Fields): Message {
  const groups = Array.isArray(edits) ? edits.flat().filter(isFields) : [];
  const texts = groups.map(({ text }) => ({ old_string: "", new_string: asString(text) ?? "" }));
  return makeToolCall(kind, undefined, { file_path: isFields(uri) ? getPath(uri) : "", edits: texts });
}

function findModel({ modelId }: Fields, parts: Fields[], metadata: Fields): string | undefined {
  const resolved = parts.findLast(({ kind }) => kind === "autoModeResolution")?.resolvedModel;
  return asString(resolved) ?? asString(metadata.resolvedModel) ?? asString(modelId)?.replace(/^copilot\//, "");
}

function readUsage(request: Fields, metadata: Fields): Usage {
  const inputTokens = metadata.promptTokens ?? request.promptTokens;
  const outputTokens = request.completionTokens ?? metadata.outputTokens;
  return readTokens({ inputTokens, outputTokens });
}
