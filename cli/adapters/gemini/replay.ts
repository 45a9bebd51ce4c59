import { type Fields, isFields } from "../../files/json.ts";
import { asString } from "../values.ts";

/** Records wait for an earlier one whose last version comes later; beyond this number they are sent without it. */
const maxHeld = 20;

/** The record that has a message's last version: alone, or within a replaced history. */
type Position = { at: number; isReplaced: boolean };

/** A rewind, which is shown as a message. */
export type Rewind = { type: "rewind"; turns: number };

/**
 * Finds, in a first pass over a recording, where each message's last version is; only ids are kept in memory. A recording is
 * a log: a message is written again, whole, whenever it has grown; a rewind takes messages back, which are kept, since their
 * tokens were used; and the history sent to the model may be replaced (`$set.messages`), which repeats messages, often
 * shortened.
 */
export class ReplayPlan {
  /** The session's own fields. */
  meta: Fields = {};
  /** Whether there are any, also of unknown types only. */
  hasMessages = false;
  /** Whether one was written as a record of its own, not only as a part of the history. */
  hasOwnMessages = false;
  readonly #positions = new Map<string, Position>();
  readonly #rewinds = new Map<string, Rewind>();
  /** The messages that no rewind has taken back, in order, and whether they are the user's. */
  readonly #live = new Map<string, boolean>();

  /** Adds a record of the first pass. @returns its kind */
  add(record: Fields, at: number): "message" | "details" | "invalid" | { unknown: string } {
    const { $rewindTo, $set } = record;
    if (typeof $rewindTo === "string") {
      this.#addRewind($rewindTo, at);
      return "message";
    }
    if (isFields($set)) {
      this.#addDetails($set, at);
      return "details";
    }
    if (typeof record.id === "string") {
      this.#addMessage(record, { at, isReplaced: false });
      return "message";
    }
    const command = Object.keys(record).find((key) => key.startsWith("$"));
    if (command) return { unknown: command };
    if (asString(record.sessionId) === undefined) return "invalid";
    this.#addDetails(record, at);
    return "details";
  }

  #addDetails({ messages, ...meta }: Fields, at: number): void {
    Object.assign(this.meta, meta);
    for (const message of messagesIn(messages)) this.#addMessage(message, { at, isReplaced: true });
  }

  #addMessage({ id, type }: Fields, position: Position): void {
    if (typeof id !== "string") return;
    this.hasMessages = true;
    if (!position.isReplaced) this.hasOwnMessages = true;
    this.#live.set(id, type === "user");
    const before = this.#positions.get(id);
    if (!before || before.isReplaced || !position.isReplaced) this.#positions.set(id, position);
  }

  /** A rewind to an unknown message takes back all messages. */
  #addRewind(id: string, at: number): void {
    const ids = [...this.#live.keys()];
    const taken = ids.slice(Math.max(0, ids.indexOf(id)));
    const turns = taken.filter((one) => this.#live.get(one)).length;
    for (const one of taken) this.#live.delete(one);
    const key = `rewind ${at}`;
    this.#rewinds.set(key, { type: "rewind", turns });
    this.#positions.set(key, { at, isReplaced: false });
  }

  /** The messages to send of a record in the second pass. */
  *messagesAt(record: Fields, at: number): Generator<[key: string, message: Fields]> {
    const rewind = this.#rewinds.get(`rewind ${at}`);
    if (rewind) yield [`rewind ${at}`, rewind];
    const candidates = typeof record.id === "string" ? [record] : messagesIn(getMessages(record));
    for (const message of candidates) {
      if (typeof message.id === "string" && this.#positions.get(message.id)?.at === at) yield [message.id, message];
    }
  }

  /** Each message's index in the session, by its key. */
  order(): Map<string, number> {
    return new Map([...this.#positions.keys()].map((key, index) => [key, index]));
  }
}

const getMessages = ({ $set, messages }: Fields): unknown => (isFields($set) ? $set.messages : messages);

const messagesIn = (messages: unknown): Fields[] => (Array.isArray(messages) ? messages.filter(isFields) : []);

/** Reorders messages from the order of their last versions to that of their first ones. */
export class Reorderer {
  readonly #order: Map<string, number>;
  readonly #send: (record: Fields) => void;
  readonly #held = new Map<number, Fields>();
  #next = 0;

  constructor(order: Map<string, number>, send: (record: Fields) => void) {
    this.#order = order;
    this.#send = send;
  }

  add(key: string, record: Fields): void {
    const index = this.#order.get(key) ?? 0;
    if (index < this.#next) this.#send(record);
    else this.#held.set(index, record);
    this.#release();
    if (this.#held.size > maxHeld) this.#skip();
  }

  /** Sends what is still held. */
  end(): void {
    while (this.#held.size > 0) this.#skip();
  }

  #skip(): void {
    this.#next = Math.min(...this.#held.keys());
    this.#release();
  }

  #release(): void {
    for (let record = this.#held.get(this.#next); record; record = this.#held.get(this.#next)) {
      this.#held.delete(this.#next);
      this.#next++;
      this.#send(record);
    }
  }
}
