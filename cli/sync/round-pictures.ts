import type { Picture } from "../adapters/pictures.ts";
import type { Writing } from "../sessions/collector.ts";
import type { SessionFilter } from "../sessions/filter.ts";
import type { AdapterInput } from "../sessions/inputs.ts";
import type { Session } from "../sessions/session.ts";
import type { PictureSender } from "./picture-sender.ts";
import { type InputSessions, type SentRecord, sessionKey } from "./sent-record.ts";

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

  beginInput(): void {
    this.#forget();
    this.#hasDropped = false;
    this.#sessions = [];
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

  /**
   * Sends the pictures that the reading of an input did not: those for which there was no room, and those of messages that were sent
   * when pictures were not. Notes the sessions that go without.
   */
  async complete(
    input: AdapterInput,
    { labels }: InputSessions,
    readAgain: (onPicture: NonNullable<Writing["onPicture"]>) => Promise<void>,
  ): Promise<void> {
    const lacking = Object.keys(labels).filter((key) => this.#record.lacksPictures(input, key));
    const concerned = new Set([...this.#sessions, ...lacking]);
    if (concerned.size === 0) return;
    const isTaking = await this.#sender.isTaking();
    const wanted = new Set(
      [...concerned].filter((key) => {
        const one = labels[key];
        return isTaking && one && this.#filter.sendsPictures(one) && this.#filter.wantsSession(one, input.adapter.name);
      }),
    );
    if ((this.#hasDropped && wanted.size > 0) || lacking.some((key) => wanted.has(key))) {
      await readAgain((picture, session) => {
        if (wanted.has(sessionKey(session))) this.#sender.add(picture);
      });
    }
    for (const key of concerned) {
      const one = labels[key];
      if (one && !wanted.has(key)) one.lacksPictures = true;
    }
  }
}
