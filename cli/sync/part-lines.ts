import { countBytesInMemory, type Session } from "../sessions/session.ts";
import { sessionKey } from "./sent-record.ts";

type PartLine = { waiting: Session[]; isBusy: boolean; isBroken: boolean };

export class PartLines {
  readonly #send: (part: Session) => void;
  readonly #lines = new Map<string, PartLine>();
  readonly #followUps = new WeakSet<Session>();

  constructor(send: (part: Session) => void) {
    this.#send = send;
  }

  takes(part: Session): boolean {
    const line = this.#lines.get(sessionKey(part));
    if (!line) {
      if (!part.isLast) this.#lines.set(sessionKey(part), { waiting: [], isBusy: true, isBroken: false });
      return false;
    }
    this.#followUps.add(part);
    if (line.isBroken) this.#drop(part);
    else if (line.isBusy) line.waiting.push(part);
    else this.#start(line, part);
    return true;
  }

  #start(line: PartLine, part: Session): void {
    line.isBusy = true;
    if (part.isLast) this.#lines.delete(sessionKey(part));
    this.#send(part);
  }

  #drop(part: Session): void {
    if (part.isLast) this.#lines.delete(sessionKey(part));
  }

  end(part: Session, isStored: boolean): void {
    const line = this.#lines.get(sessionKey(part));
    if (!line) return;
    if (isStored) {
      const next = line.waiting.shift();
      line.isBusy = false;
      if (next) this.#start(line, next);
      return;
    }
    line.isBroken = true;
    for (const one of line.waiting.splice(0)) this.#drop(one);
  }

  isFollowUp(part: Session): boolean {
    return this.#followUps.has(part);
  }

  get waitingBytes(): number {
    const waiting = [...this.#lines.values()].flatMap((line) => line.waiting);
    return waiting.reduce((sum, part) => sum + countBytesInMemory(part), 0);
  }
}
