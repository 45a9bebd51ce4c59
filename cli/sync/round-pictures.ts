import type { Picture } from "../adapters/pictures.ts";
import type { Writing } from "../sessions/collector.ts";
import type { SessionFilter } from "../sessions/filter.ts";
import type { AdapterInput } from "../sessions/inputs.ts";
import type { Session, SessionLabels } from "../sessions/session.ts";
import type { PictureSender } from "./picture-sender.ts";
import { type SentRecord, sessionKey } from "./sent-record.ts";
import type { InputSessions } from "./stored-record.ts";

/** Of a session whose project is not known yet. */
const maxHeldBytes = 16 * 1024 * 1024;

/** The pictures of the input that is read: sent at once where its folder tells that they may be, else when their session has ended. */
export class RoundPictures {
  readonly #filter: SessionFilter;
  readonly #sender: PictureSender;
  readonly #record: SentRecord;
  #folder: string | undefined;
  #held: Picture[] = [];
  #heldBytes = 0;
  /** Whether there was no room for some of the input's: they are read again, now that their projects are known. */
  #hasDropped = false;
  /** The keys of the input's sessions that have pictures. */
  #sessions: string[] = [];

  constructor(filter: SessionFilter, { pictures, record }: { pictures: PictureSender; record: SentRecord }) {
    this.#filter = filter;
    this.#sender = pictures;
    this.#record = record;
  }

  /** Sessions whose pictures were not sent, and may be by now, are sent whole: what refers to pictures is noted with an upload. */
  async beginInput(input: AdapterInput): Promise<void> {
    this.#forget();
    this.#hasDropped = false;
    this.#sessions = [];
    const lacking = this.#record.findSessionsLackingPictures(input).filter(([, one]) => this.#isWanted(one, input));
    if (lacking.length === 0 || !(await this.#sender.isTaking())) return;
    for (const [key] of lacking) this.#record.forget(key, `pictures ${this.#record.getState(key)?.hash ?? ""}`);
  }

  #isWanted(session: SessionLabels, { adapter }: AdapterInput): boolean {
    return this.#filter.sendsPictures(session) && this.#filter.wantsSession(session, adapter.name);
  }

  /** Notes the folder of the session that is read, which is wanted. */
  noteFolder(cwd: string): void {
    this.#folder = cwd;
  }

  add(picture: Picture): void {
    if (this.#folder !== undefined) {
      if (this.#filter.sendsPictures({ cwd: this.#folder })) this.#sender.add(picture);
    } else if (this.#heldBytes + picture.bytes > maxHeldBytes) this.#hasDropped = true;
    else {
      this.#held.push(picture);
      this.#heldBytes += picture.bytes;
    }
  }

  /** @param session its last part */
  endSession(session: Session, isWanted: boolean): void {
    if (session.hasPictures) this.#sessions.push(sessionKey(session));
    if (isWanted && this.#filter.sendsPictures(session)) for (const one of this.#held) this.#sender.add(one);
    this.#forget();
  }

  #forget(): void {
    this.#folder = undefined;
    this.#held = [];
    this.#heldBytes = 0;
  }

  /** Sends the pictures of an input that was read for which there was no room, and notes the sessions that go without. */
  async complete(
    input: AdapterInput,
    { labels }: InputSessions,
    readAgain: (onPicture: NonNullable<Writing["onPicture"]>) => Promise<void>,
  ): Promise<void> {
    const before = this.#record.findSessionsLackingPictures(input).map(([key]) => key);
    const concerned = new Set([...this.#sessions, ...before]);
    if (concerned.size === 0) return;
    const isTaking = await this.#sender.isTaking();
    const isSent = (key: string) => isTaking && labels[key] !== undefined && this.#isWanted(labels[key], input);
    if (this.#hasDropped && isTaking) {
      await readAgain((picture, session) => {
        if (isSent(sessionKey(session))) this.#sender.add(picture);
      });
    }
    for (const key of concerned) {
      const one = labels[key];
      if (one && !isSent(key)) one.lacksPictures = true;
    }
  }
}
