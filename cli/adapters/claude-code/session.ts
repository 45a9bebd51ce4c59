import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { GitEvidence, type SavedEvidence } from "../git-evidence.ts";
import { makeNotice, withMetadata } from "../messages.ts";
import type { Originals } from "../originals.ts";
import { asCopy, withUsage } from "../usage.ts";
import { asFields, asString, asTimestamp } from "../values.ts";
import { AnswerTracker, growMessage, type SavedAnswer } from "./answer.ts";
import { type AttachedFile, attachFile, readAttachment } from "./attachments.ts";
import { AnswerCosts, type SavedCosts } from "./costs/answer-costs.ts";
import { type Cost, joinCosts } from "./costs/costs.ts";
import { readOperation, type SavedFacts, SessionFacts } from "./facts.ts";
import { isCopied, mayCopy } from "./family/forks.ts";
import { KnownLines, type SavedLines } from "./family/known-lines.ts";
import type { SessionIdentity } from "./identity.ts";
import { skippedTypes } from "./line-types.ts";
import { type Dialect, type LineContext, readMessages } from "./messages.ts";
import { readSavedHook } from "./notices.ts";
import { PromptQueue, type SavedQueue } from "./prompt-queue.ts";
import type { SavedOutputs } from "./saved-outputs.ts";
import { type SavedTitles, TitleChooser } from "./titles.ts";

export type ClaudeSurroundings = {
  originals: Originals<number>;
  /** The ids of sessions whose files are gone, and which the server has. */
  stored: ReadonlySet<string>;
  summaries: ReadonlyMap<string, string>;
  outputs: SavedOutputs;
};

type SavedClaudeSession = {
  facts: SavedFacts;
  costs: SavedCosts;
  evidence: SavedEvidence;
  queue: SavedQueue;
  titles: SavedTitles;
  answer: SavedAnswer;
  unplaced: Cost;
  lines: SavedLines;
};

export class ClaudeSession {
  readonly #sink: Sink;
  readonly #context: LineContext;
  readonly #identity: SessionIdentity;
  readonly #around: ClaudeSurroundings;
  readonly #lines: KnownLines;
  readonly titles: TitleChooser;
  #costs = new AnswerCosts();
  #copiedCosts = new AnswerCosts(undefined, this.#costs);
  #evidence = new GitEvidence();
  #queue = new PromptQueue();
  readonly #facts: SessionFacts;
  #answer = new AnswerTracker();
  #messages = 0;
  #delayed: Message | undefined;
  #isDelayedCopied = false;
  /** Facts of lines without a message, which go with the answer's next one. */
  #unplaced: Cost = {};

  constructor(
    sink: Sink,
    dialect: Dialect,
    identity: SessionIdentity,
    around: ClaudeSurroundings,
    from?: { state: Fields; messages: number },
  ) {
    this.#sink = sink;
    this.#context = { dialect, outputs: around.outputs, unhandled: (type) => sink.unhandled(type) };
    this.#identity = identity;
    this.#around = around;
    const saved = from?.state as SavedClaudeSession | undefined;
    this.#lines = new KnownLines(saved?.lines);
    this.titles = new TitleChooser(around.summaries, saved?.titles);
    this.#facts = new SessionFacts(saved?.facts);
    this.#emitFolder();
    if (!saved || !from) return;
    this.#costs = new AnswerCosts(saved.costs);
    this.#copiedCosts = new AnswerCosts(undefined, this.#costs);
    this.#evidence = new GitEvidence(saved.evidence);
    this.#queue = new PromptQueue(saved.queue);
    this.#answer = new AnswerTracker(saved.answer);
    this.#unplaced = saved.unplaced;
    this.#messages = from.messages;
    this.#sink.begin(dialect.source, this.#makeSourceId(), from.messages);
  }

  /** Undefined for a session that can't be continued. */
  save(): Fields | undefined {
    this.#emitOthers();
    this.#sendDelayed();
    if (this.#messages === 0 || mayCopy(this.#around)) return undefined;
    return {
      facts: this.#facts.save(),
      costs: this.#costs.save(),
      evidence: this.#evidence.save(),
      queue: this.#queue.save(),
      titles: this.titles.save(),
      answer: this.#answer.save(),
      unplaced: this.#unplaced,
      lines: this.#lines.save(),
    } satisfies SavedClaudeSession;
  }

  add(record: Fields): void {
    if (!mayCopy(this.#around)) this.#facts.noteTime(record.timestamp);
    switch (record.type) {
      case "user":
      case "assistant":
      case "system":
      case "attachment":
      case "saved_hook_context":
        this.#addLine(record);
        return;
      default:
        this.#addState(record, asString(record.type) ?? "(none)");
        this.#sink.skipped();
    }
  }

  readonly addMessage = (message: Message): void => this.#emit(message, false);

  #addState(record: Fields, type: string): void {
    if (this.titles.read(record) || this.#facts.readState(record)) return;
    if (type === "pr-link") {
      const { prUrl: url, prNumber: number, prRepository, repository } = record;
      this.#evidence.addPullRequest({ url, number, repository: prRepository ?? repository });
    } else if (type === "queue-operation") this.#queue.read(record);
    else if (!skippedTypes.has(type)) this.#sink.unhandled(type);
  }

  #read(record: Fields): Message[] | undefined {
    if (record.type === "attachment") return this.#readAttachment(record);
    if (record.type === "saved_hook_context") return readSavedHook(record);
    return readMessages(record, this.#context);
  }

  #readAttachment(record: Fields): Message[] | undefined {
    const attached = readAttachment(record, this.#context.unhandled);
    if (!attached) return undefined;
    if (attached.file) this.#attach(attached.file);
    if (attached.isQueued) for (const { content } of attached.messages) this.#queue.notePrompt(content);
    return attached.messages;
  }

  #attach(file: AttachedFile): void {
    const isOwn = this.#delayed?.role === "user" && this.#delayed.metadata?.kind === undefined;
    if (this.#delayed && isOwn) this.#delayed = attachFile(this.#delayed, file);
    else this.#emit(attachFile(makeNotice(`Attached: ${file.name ?? file.type ?? "a file"}`), file), false);
  }

  #addLine(record: Fields): void {
    if (this.#lines.has(record)) {
      this.#sink.skipped();
      return;
    }
    if (this.#facts.note(record)) this.#emitFolder();
    const uuid = asString(record.uuid);
    if (uuid) this.titles.noteLine(uuid);
    if (record.type === "assistant") this.#addLostPrompts(record);
    else if (record.type === "system") this.#facts.noteTurn(record);
    const messages = this.#read(record);
    if (messages === undefined) this.#sink.invalid();
    else if (messages.length === 0) this.#sink.skipped();
    if (messages) this.#send(messages, record);
  }

  #emitFolder(): void {
    const folder = this.#identity.given?.folder ?? this.#facts.folder;
    if (folder) this.#sink.folder(folder);
  }

  #addLostPrompts({ timestamp }: Fields): void {
    for (const text of this.#queue.takeLost()) {
      const message = withMetadata(makeNotice(text, "user"), { subtype: "queued" });
      const createdAt = asTimestamp(timestamp);
      this.#emit(createdAt ? { ...message, createdAt } : message, false);
    }
  }

  #send(messages: Message[], record: Fields): void {
    const isAnswer = record.type === "assistant";
    const isCopied = this.#isCopied(record);
    this.#facts.noteTime(record.timestamp, isCopied);
    const isFirst = isAnswer && this.#beginAnswer(record);
    if (isFirst) this.#emitOthers();
    if (isAnswer && isCopied) this.#costs.know(record);
    const costs = isCopied ? this.#copiedCosts : this.#costs;
    const own = isAnswer ? this.#readCost(record, costs, isFirst) : {};
    let cost = joinCosts(isAnswer && !isFirst ? this.#unplaced : {}, own, record.uuid);
    if (!isAnswer) this.#answer.pause();
    if (!isAnswer) this.#costs.noteMessages(messages);
    if (!isCopied) readOperation(record, this.#evidence, this.#messages + (this.#delayed ? 1 : 0));
    const createdAt = asTimestamp(record.timestamp);
    for (const message of messages) {
      const place = isAnswer ? this.#answer.compare(message) : "new";
      if (place === "known") continue;
      const isLonger = place === "longer" && this.#delayed !== undefined;
      const whole = isLonger ? growMessage(this.#delayed, message) : message;
      const complete = this.#complete(whole, cost, isLonger ? undefined : createdAt);
      cost = {};
      const advice = isAnswer ? costs.addAdvice(complete, record) : undefined;
      if (advice) this.#facts.repeatModel();
      if (advice) this.#emit(advice, isCopied);
      else if (isLonger) this.#delayed = complete;
      else this.#emit(complete, isCopied);
      if (message.content.startsWith("<local-command-stdout>")) this.titles.readOutput(message.content);
    }
    if (isAnswer) this.#unplaced = this.#placeUsage(cost, isFirst);
  }

  /** Changes the message in place, to save copies. */
  #complete(message: Message, { facts, usage }: Cost, createdAt: string | undefined): Message {
    const changes = this.#facts.readChanges();
    if (createdAt) message.createdAt = createdAt;
    if (!facts && !changes) return message;
    const metadata: Fields = { ...message.metadata, ...facts, ...changes };
    if (Object.keys(metadata).length > 0) message.metadata = metadata;
    return usage ? withUsage(message, usage) : message;
  }

  /** Tokens of a line that repeats its answer's beginning belong to the message that was sent. */
  #placeUsage(cost: Cost, isFirst: boolean): Cost {
    if (isFirst || !cost.usage || this.#delayed?.role !== "assistant") return cost;
    this.#delayed = withUsage(this.#delayed, cost.usage);
    return {};
  }

  #emit(message: Message, isCopied: boolean): void {
    this.#sendDelayed();
    this.#delayed = message;
    this.#isDelayedCopied = isCopied;
  }

  #sendDelayed(): void {
    if (!this.#delayed) return;
    if (this.#messages === 0) this.#sink.begin(this.#context.dialect.source, this.#makeSourceId());
    this.#evidence.see(this.#delayed, this.#messages, this.#isDelayedCopied);
    this.#messages++;
    this.#sink.message(this.#isDelayedCopied ? asCopy(this.#delayed) : this.#delayed);
    this.#delayed = undefined;
  }

  #makeSourceId(): string {
    const { name, isAgent, session = this.#facts.session, isSidechain } = this.#identity;
    if (isSidechain) return `${name}/sidechain`;
    return isAgent && session ? `${session}/${name}` : name;
  }

  #isCopied(record: Fields): boolean {
    const { forkedFrom, sessionId } = record;
    const { originals, stored } = this.#around;
    const named = asString(isFields(forkedFrom) ? forkedFrom.sessionId : sessionId);
    const isStored = named !== undefined && stored.has(named);
    if (isFields(forkedFrom) || isStored) this.#facts.noteOriginal(named);
    return isCopied(record, originals) || isStored;
  }

  #beginAnswer({ message, apiBlockIndex }: Fields): boolean {
    return this.#answer.begin(asString(asFields(message).id), apiBlockIndex);
  }

  #readCost(record: Fields, costs: AnswerCosts, isFirst: boolean): Cost {
    const model = isFields(record.message) ? this.#facts.readNewModel(record.message.model) : undefined;
    const { usage, facts } = costs.read(record, isFirst);
    const changes = this.#answer.readChanges(facts ?? {});
    if (model) changes.model = model;
    return { usage, facts: changes };
  }

  #emitOthers(): void {
    for (const costs of [this.#costs, this.#copiedCosts])
      for (const message of costs.takeOthers()) {
        this.#emit(message, costs === this.#copiedCosts);
        this.#facts.repeatModel();
      }
  }

  end(): void {
    this.#emitOthers();
    this.#sendDelayed();
    if (this.#messages === 0) return;
    this.#facts.noteOriginal(this.#around.originals.nearest);
    const title = this.titles.choose(this.#identity.given?.title, this.#identity.description);
    const { fields, metadata } = this.#facts.details(this.#identity, title);
    const { total } = this.#costs;
    const usage = Object.keys(total).length > 0 && { usage: total };
    this.#sink.end({ ...fields, metadata: { ...metadata, ...this.#evidence.details(), ...usage } });
  }
}
