import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { notice, thinking, toolCall, withMetadata } from "../messages.ts";
import type { SessionBuilder } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString, asTimestamp } from "../values.ts";
import { Calls, getMarkdown, getPath } from "./calls.ts";

const skippedParts = new Set(
  `autoModeResolution clearToPreviousToolInvocation codeblockUri codeCitation command disabledClaudeHooks extensions
  externalEdit mcpAuthenticationRequired mcpServersStarting mcpServersStartingSlow multiDiffData prepareToolInvocation
  progressMessage progressTask progressTaskSerialized reference systemNotification treeData undoStop usage usedContext
  voiceProgress workspaceEdit`.split(/\s+/),
);

const isCall = ({ kind }: Fields): boolean => kind === "toolInvocationSerialized" || kind === "toolInvocation";

/** Builds the messages of one turn: what the user asked, and the parts of the answer in their order. */
export class Turn {
  readonly #sink: Sink;
  readonly #request: Fields;
  readonly #result: Fields;
  #messages: Message[] = [];
  #text = "";

  constructor(sink: Sink, request: Fields) {
    this.#sink = sink;
    this.#request = request;
    this.#result = isFields(request.result) ? request.result : {};
  }

  send(session: SessionBuilder): void {
    const request = this.#request;
    const metadata = isFields(this.#result.metadata) ? this.#result.metadata : {};
    const at = asCount(request.timestamp) || undefined;
    session.send(readQuestion(request), { at });
    const parts = partsIn(request.response);
    this.#addParts(parts, new Calls(metadata));
    const { errorDetails } = this.#result;
    const error = isFields(errorDetails) ? asString(errorDetails.message) : undefined;
    if (error) this.#messages.push(notice(error));
    const ended = isFields(request.modelState) ? asCount(request.modelState.completedAt) : undefined;
    const last = this.#messages.at(-1);
    const endedAt = asTimestamp(ended);
    if (ended && endedAt && at && ended >= at && last) last.createdAt = endedAt;
    session.send(this.#messages, {
      at,
      model: findModel(request, parts, metadata),
      usage: readUsage(request, metadata),
    });
  }

  #addParts(parts: Fields[], calls: Calls): void {
    const shown = new Map<unknown, Fields>();
    // A call is written again when its state has changed: it stays where it was first.
    for (const part of parts) if (isCall(part)) shown.set(part.toolCallId ?? part.id ?? part, part);
    const ids = calls.idsInOrder([...shown.values()]);
    const hasCalls = shown.size > 0;
    for (const part of parts) {
      const key = part.toolCallId ?? part.id ?? part;
      const call = isCall(part) ? shown.get(key) : undefined;
      if (call) {
        shown.delete(key);
        this.#flush();
        this.#messages.push(...calls.messages(call, ids.get(call.toolCallId)));
      } else if (!isCall(part)) this.#addPart(part, hasCalls);
    }
    this.#flush();
    this.#messages.push(...calls.rest());
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
        this.#text += referenceText(part);
        break;
      case "thinking": {
        const text = Array.isArray(part.value) ? part.value.filter(asString).join("\n") : asString(part.value);
        if (text) this.#push(thinking(text));
        break;
      }
      case "textEditGroup":
      case "notebookEditGroup":
        // With calls, these are the changes that the calls made.
        if (!hasCalls) this.#push(makeEdit(kind, part));
        break;
      case "questionCarousel":
        this.#push(
          toolCall("ask_questions", asString(part.resolveId), { questions: part.questions, answers: part.data }),
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
    if (text) this.#push(notice(text));
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

  /** Where nothing was shown, what the model said last. */
  #addLastWords(): void {
    const metadata = isFields(this.#result.metadata) ? this.#result.metadata : {};
    const listed = Array.isArray(metadata.messages) ? metadata.messages.filter(isFields) : [];
    const rounds = Array.isArray(metadata.toolCallRounds) ? metadata.toolCallRounds.filter(isFields) : [];
    const text =
      asString(listed.findLast(({ role }) => role === "assistant")?.content) ?? asString(rounds.at(-1)?.response);
    if (text) this.#messages.push({ role: "assistant", content: text });
  }
}

const isAnswer = ({ role, metadata }: Message): boolean => role === "assistant" && metadata?.kind !== "thinking";

/** Older versions keep the answer as one text, or as a list of texts. */
function partsIn(response: unknown): Fields[] {
  const parts: unknown[] = Array.isArray(response) ? response : [response];
  return parts.map((part) => (typeof part === "string" ? { value: part } : part)).filter(isFields);
}

function readQuestion(request: Fields): Message[] {
  const { message, variableData } = request;
  const parts = isFields(message) && Array.isArray(message.parts) ? message.parts.filter(isFields) : [];
  const text =
    asString(message) ??
    (isFields(message) ? (asString(message.text) ?? parts.map((part) => asString(part.text) ?? "").join("")) : "");
  const variables = isFields(variableData) && Array.isArray(variableData.variables) ? variableData.variables : [];
  const attachments = variables.filter(isFields).flatMap(readAttachment);
  if (text.trim() === "" && attachments.length === 0) return [];
  if (request.isSystemInitiated === true) return [notice(text, "user")];
  const content = text || attachments.map(({ name }) => `[${name ?? "attachment"}]`).join(" ");
  return [withMetadata({ role: "user", content }, { attachments: attachments.length > 0 ? attachments : undefined })];
}

/** What the user attached: a file, an image, a symbol; not what the editor added by itself. */
function readAttachment({ kind, name, mimeType, isFile, isDirectory }: Fields): { type?: string; name?: string }[] {
  const type = asString(mimeType) ?? asString(kind) ?? (isFile ? "file" : isDirectory ? "directory" : undefined);
  if (["implicit", "workspace", "promptText", "promptFile", "tool", "toolset", undefined].includes(type)) return [];
  return [{ ...(type && { type }), ...(asString(name) && { name: String(name) }) }];
}

function referenceText({ name, inlineReference }: Fields): string {
  const path = isFields(inlineReference) ? getPath(inlineReference) : "";
  const shown = asString(name) ?? (isFields(inlineReference) ? asString(inlineReference.name) : undefined) ?? path;
  return shown ? `\`${shown}\`` : "";
}

/** An edit that was applied without a call. */
function makeEdit(kind: string, { uri, edits }: Fields): Message {
  const groups = Array.isArray(edits) ? edits.flat().filter(isFields) : [];
  const texts = groups.map(({ text }) => ({ old_string: "", new_string: asString(text) ?? "" }));
  return toolCall(kind, undefined, { file_path: isFields(uri) ? getPath(uri) : "", edits: texts });
}

/** The model that answered: the one that was chosen, where the user left it to the editor. */
function findModel({ modelId }: Fields, parts: Fields[], metadata: Fields): string | undefined {
  const resolved = parts.findLast(({ kind }) => kind === "autoModeResolution")?.resolvedModel;
  return asString(resolved) ?? asString(metadata.resolvedModel) ?? asString(modelId)?.replace(/^copilot\//, "");
}

/** The output of the turn, and the input of its last request: the editor keeps no other. */
function readUsage(request: Fields, metadata: Fields): Usage | undefined {
  const inputTokens = asCount(metadata.promptTokens) ?? asCount(request.promptTokens);
  const outputTokens = asCount(request.completionTokens) ?? asCount(metadata.outputTokens);
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
}
