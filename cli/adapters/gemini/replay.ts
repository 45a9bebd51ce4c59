import { type Fields, isFields } from "../../files/json.ts";
import { asString, listFields } from "../values.ts";

type VersionPosition = { at: number; isReplaced: boolean };

export type Rewind = { type: "rewind"; turns: number };

/**
 * A grown message is written again, whole; a rewind takes back messages, whose tokens still count; `$set.messages`
 * repeats messages, often shortened.
 */
export class ReplayPlan {
  meta: Fields = {};
  /** True even if all types are unknown. */
  hasMessages = false;
  /** A message was written as a separate record. */
  hasOwnMessages = false;
  readonly #positions = new Map<string, VersionPosition>();
  readonly #rewinds = new Map<string, Rewind>();
  readonly #live = new Map<string, boolean>();

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
    for (const message of listFields(messages)) this.#addMessage(message, { at, isReplaced: true });
  }

  #addMessage({ id, type }: Fields, position: VersionPosition): void {
    if (typeof id !== "string") return;
    this.hasMessages = true;
    if (!position.isReplaced) this.hasOwnMessages = true;
    this.#live.set(id, type === "user");
    const before = this.#positions.get(id);
    if (!before || before.isReplaced || !position.isReplaced) this.#positions.set(id, position);
  }

  #addRewind(id: string, at: number): void {
    const ids = [...this.#live.keys()];
    const taken = ids.slice(Math.max(0, ids.indexOf(id)));
    const turns = taken.filter((one) => this.#live.get(one)).length;
    for (const one of taken) this.#live.delete(one);
    const key = `rewind ${at}`;
    this.#rewinds.set(key, { type: "rewind", turns });
    this.#positions.set(key, { at, isReplaced: false });
  }

  *readMessagesAt(record: Fields, at: number): Generator<[key: string, message: Fields]> {
    const rewind = this.#rewinds.get(`rewind ${at}`);
    if (rewind) yield [`rewind ${at}`, rewind];
    const candidates = typeof record.id === "string" ? [record] : listFields(getMessages(record));
    for (const message of candidates) {
      if (typeof message.id === "string" && this.#positions.get(message.id)?.at === at) yield [message.id, message];
    }
  }

  makeOrder(): Map<string, number> {
    return new Map([...this.#positions.keys()].map((key, index) => [key, index]));
  }
}

const getMessages = ({ $set, messages }: Fields): unknown => (isFields($set) ? $set.messages : messages);
