import { type Fields, isFields } from "../../files/json-lines.ts";
import { asString } from "../metadata.ts";

/** Records that wait for an earlier one whose last version comes later; more than these go on without it. */
const maxHeld = 20;

/** Where the last version of a message stands: in which record of the file, alone or among a replaced history. */
type Host = { at: number; isReplaced: boolean };

/** A rewind, as a record among the others. */
export type Rewind = { type: "rewind"; turns: number };

/**
 * What is left to say of a recording, found out in a first reading that remembers ids alone. A recording is a log: a message
 * is written again, whole, whenever it has grown; a rewind takes messages back, which are kept all the same, since they were
 * said and paid for; and the history that the model is sent may be replaced by another one (`$set.messages`), which repeats
 * messages, often shortened.
 */
export class Plan {
  /** What is known of the session. */
  meta: Fields = {};
  hasTalk = false;
  readonly #places = new Map<string, Host>();
  readonly #rewinds = new Map<string, Rewind>();
  /** The messages that no rewind has taken back, in their order, and whether they are the user's. */
  readonly #live = new Map<string, boolean>();

  /** @returns what the record is; an unknown one with its type */
  take(record: Fields, at: number): "message" | "about" | "invalid" | { unknown: string } {
    const { $rewindTo, $set } = record;
    if (typeof $rewindTo === "string") {
      this.#rewind($rewindTo, at);
      return "message";
    }
    if (isFields($set)) {
      this.#about($set, at);
      return "about";
    }
    if (typeof record.id === "string") {
      this.#note(record, { at, isReplaced: false });
      return "message";
    }
    const command = Object.keys(record).find((key) => key.startsWith("$"));
    if (command) return { unknown: command };
    if (asString(record.sessionId) === undefined) return "invalid";
    this.#about(record, at);
    return "about";
  }

  #about({ messages, ...meta }: Fields, at: number): void {
    Object.assign(this.meta, meta);
    for (const message of messagesIn(messages)) this.#note(message, { at, isReplaced: true });
  }

  #note({ id, type }: Fields, host: Host): void {
    if (typeof id !== "string") return;
    this.hasTalk ||= type === "user" || type === "gemini";
    this.#live.set(id, type === "user");
    const before = this.#places.get(id);
    if (!before || before.isReplaced || !host.isReplaced) this.#places.set(id, host);
  }

  /** A message that is not known takes back all of them. */
  #rewind(id: string, at: number): void {
    const ids = [...this.#live.keys()];
    const taken = ids.slice(Math.max(0, ids.indexOf(id)));
    const turns = taken.filter((one) => this.#live.get(one)).length;
    for (const one of taken) this.#live.delete(one);
    const key = `rewind ${at}`;
    this.#rewinds.set(key, { type: "rewind", turns });
    this.#places.set(key, { at, isReplaced: false });
  }

  /** What is to be said of a record in the second reading, by the order in which it began. */
  *due(record: Fields, at: number): Generator<[key: string, said: Fields]> {
    const rewind = this.#rewinds.get(`rewind ${at}`);
    if (rewind) yield [`rewind ${at}`, rewind];
    const candidates = typeof record.id === "string" ? [record] : messagesIn(messagesOf(record));
    for (const message of candidates) {
      if (typeof message.id === "string" && this.#places.get(message.id)?.at === at) yield [message.id, message];
    }
  }

  /** The place of each message in the conversation. */
  order(): Map<string, number> {
    return new Map([...this.#places.keys()].map((key, index) => [key, index]));
  }
}

const messagesOf = ({ $set, messages }: Fields): unknown => (isFields($set) ? $set.messages : messages);

const messagesIn = (messages: unknown): Fields[] => (Array.isArray(messages) ? messages.filter(isFields) : []);

/** Puts records that come by the times of their last versions into the order in which they began. */
export class InOrder {
  readonly #order: Map<string, number>;
  readonly #say: (record: Fields) => void;
  readonly #held = new Map<number, Fields>();
  #next = 0;

  constructor(order: Map<string, number>, say: (record: Fields) => void) {
    this.#order = order;
    this.#say = say;
  }

  add(key: string, record: Fields): void {
    const index = this.#order.get(key) ?? 0;
    if (index < this.#next) this.#say(record);
    else this.#held.set(index, record);
    this.#release();
    if (this.#held.size > maxHeld) this.#skip();
  }

  /** Nothing comes any more. */
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
      this.#say(record);
    }
  }
}
