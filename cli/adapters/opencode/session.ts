import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { notice, withMetadata } from "../messages.ts";
import { type Usage, UsageCounter, withUsage } from "../usage.ts";
import { asString, asTimestamp, projectName, truncate } from "../values.ts";
import { errorMessages, partMessages, readUsage } from "./parts.ts";
import type { Store } from "./store.ts";

export const source = "opencode";

/** Builds one session from a store. */
export class OpencodeSession {
  readonly #sink: Sink;
  readonly #details: Fields;
  readonly #id: string;
  readonly #usage = new UsageCounter();
  #isOpen = false;
  #model: string | undefined;
  #cwd: string | undefined;
  #createdAt: string | undefined;

  constructor(sink: Sink, details: Fields, id: string) {
    this.#sink = sink;
    this.#id = id;
    this.#details = details;
    this.#cwd = asString(details.directory);
    if (this.#cwd) sink.folder(this.#cwd);
    this.#createdAt = isFields(details.time) ? asTimestamp(details.time.created) : undefined;
  }

  async read(store: Store): Promise<void> {
    const { revert } = this.#details;
    const takenBack = isFields(revert) ? asString(revert.messageID) : undefined;
    for (const id of await store.messageIds()) {
      const info = await store.message(id);
      if (id === takenBack) this.#send(notice("What follows was taken back."));
      if (info) await this.#addMessage(info, id, store);
      await this.#sink.pause();
    }
    this.#end();
  }

  async #addMessage(info: Fields, id: string, store: Store): Promise<void> {
    if (info.role !== "user" && info.role !== "assistant") {
      this.#sink.unhandled(`role.${asString(info.role) ?? "(none)"}`);
      return;
    }
    const createdAt = isFields(info.time) ? asTimestamp(info.time.created) : undefined;
    this.#cwd ??= isFields(info.path) ? asString(info.path.cwd) : undefined;
    let cost = this.#readCost(info, id);
    const send = (message: Message) => {
      this.#send({
        ...(createdAt && { createdAt }),
        ...withMetadata(withUsage(message, cost.usage), { model: cost.model }),
      });
      cost = {};
    };
    for await (const part of store.parts(id)) {
      const messages = partMessages(part, info, (type) => this.#sink.unhandled(type));
      if (messages.length === 0) this.#sink.skipped();
      for (const message of messages) send(message);
    }
    for (const message of errorMessages(info)) send(message);
  }

  /** A message's model, where it has changed, and its usage. */
  #readCost({ role, modelID, tokens }: Fields, id: string): { model?: string | undefined; usage?: Usage | undefined } {
    if (role !== "assistant") return {};
    const model = asString(modelID);
    const isNew = model !== undefined && model !== this.#model;
    if (isNew) this.#model = model;
    const usage = isFields(tokens) ? this.#usage.add(id, readUsage(tokens)) : undefined;
    return { model: isNew ? model : undefined, usage };
  }

  #send(message: Message): void {
    if (!this.#isOpen) this.#sink.begin(source, this.#id);
    this.#isOpen = true;
    this.#sink.message(message);
  }

  #end(): void {
    if (!this.#isOpen) return;
    const title = asString(this.#details.title);
    const project = projectName(this.#cwd);
    const version = asString(this.#details.version);
    const parent = asString(this.#details.parentID);
    this.#sink.end({
      ...(this.#model && { model: truncate(this.#model, 256) }),
      ...(title && { title: truncate(title, 512) }),
      ...(project && { project }),
      ...(this.#createdAt && { createdAt: this.#createdAt }),
      metadata: {
        ...(this.#cwd && { cwd: this.#cwd }),
        ...(version && { agentVersion: version }),
        ...(parent && { parent }),
        ...(Object.keys(this.#usage.total).length > 0 && { usage: this.#usage.total }),
      },
    });
  }
}
