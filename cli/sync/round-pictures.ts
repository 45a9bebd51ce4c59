import type { Picture } from "../adapters/pictures.ts";
import type { Writing } from "../sessions/collector.ts";
import type { SessionFilter } from "../sessions/filter.ts";
import type { AdapterInput } from "../sessions/inputs.ts";
import type { Session, SessionLabels } from "../sessions/session.ts";
import type { PictureSender } from "./picture-sender.ts";
import { type SentRecord, sessionKey } from "./sent-record.ts";
import type { InputSessions } from "./stored-record.ts";

const maxWaitingBytes = 16 * 1024 * 1024;

/** A picture waits for its session's end unless the folder is known. */
export class RoundPictures {
  readonly #filter: SessionFilter;
  readonly #sender: PictureSender;
  readonly #record: SentRecord;
  #folder: string | undefined;
  #waiting: Picture[] = [];
  #waitingBytes = 0;
  /** Pictures that did not fit are read again once their projects are known. */
  #hasDropped = false;
  #sessions: string[] = [];

  constructor(filter: SessionFilter, { pictures, record }: { pictures: PictureSender; record: SentRecord }) {
    this.#filter = filter;
    this.#sender = pictures;
    this.#record = record;
  }

  /** The server records references with an upload, so such sessions are sent whole. */
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

  noteFolder(cwd: string): void {
    this.#folder = cwd;
  }

  add(picture: Picture): void {
    if (this.#folder !== undefined) {
      if (this.#filter.sendsPictures({ cwd: this.#folder })) this.#sender.add(picture);
    } else if (this.#waitingBytes + picture.bytes > maxWaitingBytes) this.#hasDropped = true;
    else {
      this.#waiting.push(picture);
      this.#waitingBytes += picture.bytes;
    }
  }

  endSession(session: Session, isWanted: boolean): void {
    if (session.hasPictures) this.#sessions.push(sessionKey(session));
    if (isWanted && this.#filter.sendsPictures(session)) for (const one of this.#waiting) this.#sender.add(one);
    this.#forget();
  }

  #forget(): void {
    this.#folder = undefined;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** Sends the pictures that did not fit, and records the sessions whose pictures are missing. */
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
