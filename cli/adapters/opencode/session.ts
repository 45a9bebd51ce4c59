import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { makeNotice } from "../messages.ts";
import { Originals } from "../originals.ts";
import { type EntryFacts, SessionBuilder } from "../session-builder.ts";
import { asFields, asString } from "../values.ts";
import { readNewerMessage } from "./newer-messages.ts";
import { readErrors, readPart, readUsage } from "./part-messages.ts";

const placeholder = /^(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z(?: \(fork #\d+\))?$/;

const ofSubagent = / \(@[^()]+ subagent\)$/;

export type SessionStore = {
  isNewer: boolean;
  /** Undefined if the session can't be read, which is counted. */
  session(): Promise<Fields | undefined>;
  /** Finds the sessions that it may be a fork of, whose messages have the same times. */
  originals(): Promise<Originals<number>>;
  messageIds(): Promise<string[]>;
  message(id: string): Promise<Fields | undefined>;
  parts(messageId: string): AsyncIterable<Fields>;
};

export class OpencodeSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #takenBack: string | undefined;
  readonly #worktree: unknown;
  #originals = new Originals<number>([]);

  constructor(sink: Sink, source: string, details: Fields, id: string) {
    this.#sink = sink;
    this.#session = new SessionBuilder(sink, source, id);
    this.#session.noteFolder(details.directory);
    this.#worktree = details.worktree;
    if (!placeholder.test(String(details.title))) this.#session.noteTitle(getTitle(details));
    this.#session.noteModel(details.model);
    this.#session.note("agentVersion", details.version);
    this.#session.note("parent", details.parentID);
    this.#session.noteTime(asFields(details.time).created);
    this.#takenBack = asString(asFields(details.revert).messageID);
  }

  async read(store: SessionStore): Promise<void> {
    this.#originals = await store.originals();
    for (const id of await store.messageIds()) {
      const info = await store.message(id);
      if (id === this.#takenBack) this.#session.send([makeNotice("What follows was taken back.")]);
      if (info && store.isNewer) this.#addNewer(info, id);
      else if (info) await this.#addMessage(info, id, store);
      await this.#sink.pause();
    }
    this.#session.noteFolder(this.#worktree);
    this.#session.note("forkedFrom", this.#originals.nearest);
    this.#session.end();
  }

  readonly #unhandled = (type: string) => this.#sink.unhandled(type);

  #addNewer(message: Fields, id: string): void {
    const messages = readNewerMessage(message, this.#unhandled);
    this.#session.add(messages, this.#readFacts(message, id));
  }

  /** A message only has the tokens of its last step, so that parts are sent step by step. */
  async #addMessage(info: Fields, id: string, store: SessionStore): Promise<void> {
    if (info.role !== "user" && info.role !== "assistant") {
      this.#sink.unhandled(`role.${asString(info.role) ?? "(none)"}`);
      return;
    }
    if (isFields(info.path)) this.#session.noteFolder(info.path.cwd);
    const facts = this.#readFacts(info, id);
    let uuid = facts.uuid;
    let delayed: Message[] = [];
    let hasSteps = false;
    const send = (stepFacts: EntryFacts) => {
      this.#session.send(delayed, { ...stepFacts, uuid });
      if (delayed.length > 0) uuid = undefined;
      delayed = [];
    };
    for await (const part of store.parts(id)) {
      const messages = readPart(part, info, this.#unhandled);
      if (messages.length === 0) this.#sink.skipped();
      delayed.push(...messages);
      if (part.type !== "step-finish" || !isFields(part.tokens)) continue;
      hasSteps = true;
      send({
        ...facts,
        usage: readUsage(part.tokens),
        costUsd: part.cost,
        stopReason: part.reason ?? facts.stopReason,
      });
    }
    delayed.push(...readErrors(info));
    if (!hasSteps) send(facts);
    else if (delayed.length > 0) send({ ...facts, usage: undefined, costUsd: undefined, stopReason: undefined });
  }

  #readFacts(info: Fields, id: string): EntryFacts {
    const facts = readFacts(info, id);
    return { ...facts, isReplayed: typeof facts.at === "number" && this.#originals.recognize(facts.at) };
  }
}

function readFacts(info: Fields, id: string): EntryFacts {
  const at = asFields(info.time).created;
  if (info.role !== "assistant" && info.type !== "assistant") return { at, uuid: id };
  return {
    at,
    uuid: id,
    model: info.modelID ?? asFields(info.model).id,
    usage: isFields(info.tokens) ? readUsage(info.tokens, info.type === "assistant") : undefined,
    costUsd: info.cost,
    stopReason: info.finish,
  };
}

function getTitle({ title, parentID }: Fields): unknown {
  return typeof title === "string" && asString(parentID) ? title.replace(ofSubagent, "") : title;
}
