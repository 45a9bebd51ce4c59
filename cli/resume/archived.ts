import { asFields, asString } from "../adapters/values.ts";
import { type Fields, isFields, parseJson, toList, toText } from "../files/json.ts";

export type ArchivedTrace = {
  source: string;
  sourceId: string;
  model: string | undefined;
  title: string | undefined;
  project: string | undefined;
  createdAt: string | undefined;
  metadata: Fields;
  messages: ArchivedMessage[];
};

export type ArchivedMessage = { role: string; content: string; createdAt: string | undefined; metadata: Fields };

/** Items with the same `answer` came from one response of the model. */
export type Item = { at: string | undefined; answer: number } & (
  | { type: "user"; text: string }
  | { type: "text"; text: string }
  | { type: "call"; id: string; name: string; input: Fields }
  | { type: "result"; id: string; output: string; isError: boolean }
);

export type Missing = Map<string, number>;

export type Conversation = { items: Item[]; missing: Missing };

export function parseTrace(line: string): ArchivedTrace | undefined {
  const trace = parseJson(line);
  if (!isFields(trace) || typeof trace.sourceId !== "string" || !Array.isArray(trace.messages)) return undefined;
  return {
    source: toText(trace.source),
    sourceId: trace.sourceId,
    model: asString(trace.model),
    title: asString(trace.title),
    project: asString(trace.project),
    createdAt: asString(trace.createdAt),
    metadata: asFields(trace.metadata),
    messages: toList(trace.messages)
      .filter(isFields)
      .map((message) => ({
        role: toText(message.role),
        content: toText(message.content),
        createdAt: asString(message.createdAt),
        metadata: asFields(message.metadata),
      })),
  };
}

const cut = /\[Spoor: [\d,]+ characters are missing here: /;
const masked = /\[redacted:[\w-]+(?::[0-9a-f]+)?\]/;

/** Starts at the last compaction, like the model's own context. */
export function readConversation(trace: ArchivedTrace): Conversation {
  const reader = new ConversationReader(trace.messages.some(beginsAnswer));
  for (const message of afterCompaction(trace.messages, reader)) reader.add(message);
  return reader.end();
}

function* afterCompaction(messages: ArchivedMessage[], reader: ConversationReader): Generator<ArchivedMessage> {
  const at = messages.findLastIndex(({ metadata }) => metadata.subtype === "compact_boundary");
  if (at === -1) return yield* messages;
  const [summary, ...others] = messages.slice(at + 1);
  if (summary?.role === "user" && summary.metadata.kind === "notice") reader.say(summary);
  else if (summary) others.unshift(summary);
  yield* others;
}

/** Only the first message of a response has its request's id and tokens. */
const beginsAnswer = ({ metadata }: ArchivedMessage): boolean =>
  metadata.requestId !== undefined || metadata.usage !== undefined || metadata.copiedUsage !== undefined;

class ConversationReader {
  readonly #tellsAnswers: boolean;
  readonly #items: Item[] = [];
  readonly #missing: Missing = new Map();
  readonly #calls = new Map<string, { id: string; isAnswered: boolean }>();
  #answer = 0;

  constructor(tellsAnswers: boolean) {
    this.#tellsAnswers = tellsAnswers;
  }

  add(message: ArchivedMessage): void {
    const { role, content, metadata } = message;
    const isResult = metadata.result !== undefined;
    const follows = !this.#tellsAnswers && !isResult && this.#items.at(-1)?.type === "result";
    if (role === "user" || beginsAnswer(message) || follows) this.#answer++;
    const tool = asFields(metadata.tool);
    const result = asFields(metadata.result);
    this.#count(message);
    if (metadata.kind === "thinking") this.#lack("thoughts");
    else if (isResult)
      this.#addResult(asString(result.callId), asString(result.output) ?? content, result.isError === true, message);
    else if (metadata.tool !== undefined) this.#addCall(tool, message);
    else if (metadata.kind === "notice" || role === "system" || role === "developer") this.#lack("the agent's notices");
    else if (content.trim() !== "") this.say(message);
  }

  say({ role, content, createdAt }: ArchivedMessage): void {
    this.#items.push({ type: role === "user" ? "user" : "text", text: content, at: createdAt, answer: this.#answer });
  }

  #addCall(tool: Fields, { content, createdAt, metadata, role }: ArchivedMessage): void {
    const given = asString(tool.callId) ?? `call-${this.#calls.size + 1}`;
    const id = this.#makeId(given);
    const name = asString(tool.name) ?? asString(metadata.tool) ?? "tool";
    this.#items.push({ type: "call", id, name, input: readInput(tool.input), at: createdAt, answer: this.#answer });
    const output = asString(tool.output) ?? (tool.content === "call" || role === "assistant" ? undefined : content);
    if (output !== undefined) this.#addResult(given, output, false, { role, content, createdAt, metadata });
  }

  #addResult(callId: string | undefined, output: string, isError: boolean, message: ArchivedMessage): void {
    const call = callId === undefined ? undefined : this.#calls.get(callId);
    if (!call || call.isAnswered) {
      this.#lack("results without a call");
      return;
    }
    call.isAnswered = true;
    const base = { type: "result", id: call.id, output, isError } as const;
    this.#items.push({ ...base, at: message.createdAt, answer: this.#answer });
  }

  /** The API refuses other characters and duplicate ids. */
  #makeId(given: string): string {
    const plain = given.replace(/[^\w-]/g, "_").slice(0, 60);
    const known = new Set([...this.#calls.values()].map(({ id }) => id));
    let id = plain;
    for (let count = 2; known.has(id); count++) id = `${plain}-${count}`;
    this.#calls.set(given, { id, isAnswered: false });
    return id;
  }

  #count({ content, metadata }: ArchivedMessage): void {
    const pictures = toList(metadata.pictures).length;
    if (pictures > 0) this.#lack("pictures", pictures);
    if (cut.test(content)) this.#lack("the middle of long texts");
    if (masked.test(content) || masked.test(JSON.stringify(metadata.tool ?? ""))) this.#lack("masked secrets");
    if (asString(asFields(metadata.result).session)) this.#lack("sub-agents' own conversations");
  }

  #lack(what: string, count = 1): void {
    this.#missing.set(what, (this.#missing.get(what) ?? 0) + count);
  }

  /** The API refuses a call without a result, and a conversation that the model begins. */
  end(): Conversation {
    const open = [...this.#calls.values()].filter(({ isAnswered }) => !isAnswered);
    if (open.length > 0) this.#missing.set("calls' results", open.length);
    const unanswered = new Set(open.map(({ id }) => id));
    const items = this.#items.flatMap((item): Item[] =>
      item.type === "call" && unanswered.has(item.id)
        ? [item, { type: "result", id: item.id, output: lostResult, isError: true, at: item.at, answer: item.answer }]
        : [item],
    );
    const [first] = items;
    if (first && first.type !== "user") items.unshift({ type: "user", text: lostStart, at: first.at, answer: 0 });
    return { items, missing: this.#missing };
  }
}

const lostResult = "[The result of this call is not in the archive.]";
const lostStart = "[The beginning of this conversation is not in the archive.]";

function readInput(input: unknown): Fields {
  const value = typeof input === "string" ? (parseJson(input) ?? input) : input;
  if (isFields(value)) return value;
  return value === undefined || value === null ? {} : { input: value };
}

export const formatMissing = (missing: Missing): string[] => [...missing].map(([what, count]) => `${what} (${count})`);
