import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { notice } from "../messages.ts";
import { Originals } from "../originals.ts";
import { type EntryFacts, SessionBuilder } from "../session-builder.ts";
import { asString } from "../values.ts";
import { newerMessages } from "./newer-messages.ts";
import { errorMessages, partMessages, readUsage } from "./parts.ts";
import type { Store } from "./store.ts";

/** A title that OpenCode gives before it has made one. */
const placeholder = /^(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z(?: \(fork #\d+\))?$/;

/** What OpenCode adds to a sub-agent's task to make its title. */
const ofSubagent = / \(@[^()]+ subagent\)$/;

/** Builds one session from a store. */
export class OpencodeSession {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  readonly #takenBack: string | undefined;
  /** The project's folder, which is the session's in versions that did not note its own. */
  readonly #worktree: unknown;
  /** A fork begins with copies of another session's messages, with their times and tokens. */
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
    this.#session.noteTime(isFields(details.time) ? details.time.created : undefined);
    this.#takenBack = isFields(details.revert) ? asString(details.revert.messageID) : undefined;
  }

  async read(store: Store): Promise<void> {
    this.#originals = await store.originals();
    for (const id of await store.messageIds()) {
      const info = await store.message(id);
      if (id === this.#takenBack) this.#session.send([notice("What follows was taken back.")]);
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
    const messages = newerMessages(message, this.#unhandled);
    if (messages.length === 0) this.#sink.skipped();
    this.#session.send(messages, this.#readFacts(message, id));
  }

  /**
   * A message's parts are sent step by step, where each step tells its own tokens and cost: the message has the tokens of its last
   * step only, and Kilo adds to its cost those of the sub-agents. The first part that is shown bears the message's id.
   */
  async #addMessage(info: Fields, id: string, store: Store): Promise<void> {
    if (info.role !== "user" && info.role !== "assistant") {
      this.#sink.unhandled(`role.${asString(info.role) ?? "(none)"}`);
      return;
    }
    if (isFields(info.path)) this.#session.noteFolder(info.path.cwd);
    const facts = this.#readFacts(info, id);
    let uuid = facts.uuid;
    let held: Message[] = [];
    let hasSteps = false;
    const send = (told: EntryFacts) => {
      this.#session.send(held, { ...told, uuid });
      if (held.length > 0) uuid = undefined;
      held = [];
    };
    for await (const part of store.parts(id)) {
      const messages = partMessages(part, info, this.#unhandled);
      if (messages.length === 0) this.#sink.skipped();
      held.push(...messages);
      if (part.type !== "step-finish" || !isFields(part.tokens)) continue;
      hasSteps = true;
      send({
        ...facts,
        usage: readUsage(part.tokens),
        costUsd: part.cost,
        stopReason: part.reason ?? facts.stopReason,
      });
    }
    held.push(...errorMessages(info));
    if (!hasSteps) send(facts);
    else if (held.length > 0) send({ ...facts, usage: undefined, costUsd: undefined, stopReason: undefined });
  }

  #readFacts(info: Fields, id: string): EntryFacts {
    const facts = readFacts(info, id);
    return { ...facts, isReplayed: typeof facts.at === "number" && this.#originals.have(facts.at) };
  }
}

/** What a message tells of the answer; a user's message names only its time and id. */
function readFacts(info: Fields, id: string): EntryFacts {
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

function getTitle({ title, parentID }: Fields): unknown {
  return typeof title === "string" && asString(parentID) ? title.replace(ofSubagent, "") : title;
}
