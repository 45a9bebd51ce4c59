import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { notice } from "../messages.ts";
import { type EntryFacts, SessionBuilder } from "../session-builder.ts";
import { asString } from "../values.ts";
import { newerMessages } from "./newer-messages.ts";
import { errorMessages, partMessages, readUsage } from "./parts.ts";
import type { Store } from "./store.ts";

/** Builds one session from a store. */
export class OpencodeSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #takenBack: string | undefined;

  constructor(sink: Sink, source: string, details: Fields, id: string) {
    this.#sink = sink;
    this.#session = new SessionBuilder(sink, source, id);
    this.#session.noteFolder(details.directory);
    this.#session.noteTitle(details.title);
    this.#session.noteModel(details.model);
    this.#session.note("agentVersion", details.version);
    this.#session.note("parent", details.parentID);
    if (isFields(details.time)) this.#session.noteTime(details.time.created);
    this.#takenBack = isFields(details.revert) ? asString(details.revert.messageID) : undefined;
  }

  async read(store: Store): Promise<void> {
    for (const id of await store.messageIds()) {
      const info = await store.message(id);
      if (id === this.#takenBack) this.#session.send([notice("What follows was taken back.")]);
      if (info && store.isNewer) this.#addNewer(info, id);
      else if (info) await this.#addMessage(info, id, store);
      await this.#sink.pause();
    }
    this.#session.end();
  }

  readonly #unhandled = (type: string) => this.#sink.unhandled(type);

  #addNewer(message: Fields, id: string): void {
    const messages = newerMessages(message, this.#unhandled);
    if (messages.length === 0) this.#sink.skipped();
    this.#session.send(messages, factsOf(message, id));
  }

  /** A message's parts are sent one by one; the first that is shown bears the message's facts. */
  async #addMessage(info: Fields, id: string, store: Store): Promise<void> {
    if (info.role !== "user" && info.role !== "assistant") {
      this.#sink.unhandled(`role.${asString(info.role) ?? "(none)"}`);
      return;
    }
    if (isFields(info.path)) this.#session.noteFolder(info.path.cwd);
    let facts = factsOf(info, id);
    const send = (messages: Message[]) => {
      this.#session.send(messages, facts);
      facts = { at: facts.at };
    };
    for await (const part of store.parts(id)) {
      const messages = partMessages(part, info, this.#unhandled);
      if (messages.length === 0) this.#sink.skipped();
      else send(messages);
    }
    const errors = errorMessages(info);
    if (errors.length > 0 || facts.usage) send(errors);
  }
}

/** What a message tells of the answer; a user's message names only its time and id. */
function factsOf(info: Fields, id: string): EntryFacts {
  const at = isFields(info.time) ? info.time.created : undefined;
  if (info.role !== "assistant" && info.type !== "assistant") return { at, uuid: id };
  return {
    at,
    uuid: id,
    model: info.modelID ?? (isFields(info.model) ? info.model.id : undefined),
    usage: isFields(info.tokens) ? readUsage(info.tokens, info.type === "assistant") : undefined,
    costUsd: info.cost,
    stopReason: info.finish,
  };
}
