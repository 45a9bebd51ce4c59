import type { Checkpoint, Message, SessionDetails, Sink } from "../adapters/adapter.ts";
import type { Compressor } from "../sync/compression.ts";
import type { Known, PartLimits, Session, UnsentSession } from "./session.ts";
import { SessionWriter } from "./session-writer.ts";

type Handlers = {
  /** Called once a session is complete. */
  done(messages: number): void;
  left(left: UnsentSession): void;
  /** `sourceId` is that of the session being read, where there is one. */
  lost(reason: string, sourceId: string | undefined): void;
  entry(line: number | undefined): void;
  skipped(): void;
  invalid(reason: string | undefined): void;
  unhandled(type: string): void;
  pause(): Promise<void>;
};

/** How sessions are written; without it they are only counted. */
export type Writing = {
  compressor: Compressor;
  limits: PartLimits;
  /** What is known of a session that begins. */
  known(source: string, sourceId: string): Known;
  onPart(part: Session): void;
  /** Called for a session whose earlier messages are no longer those that were sent: it must be read again. */
  onChanged(source: string, sourceId: string): void;
  onCheckpoint?(at: Checkpoint): void;
};

/** Turns an adapter's events into sessions, in bounded memory. */
export class Collector implements Sink {
  readonly #handlers: Handlers;
  readonly #writing: Writing | undefined;
  #open: { source: string; sourceId: string; messages: number; writer: SessionWriter | undefined } | undefined;

  constructor(handlers: Handlers, writing?: Writing) {
    this.#handlers = handlers;
    this.#writing = writing;
  }

  begin(source: string, sourceId: string, messages = 0): void {
    const writing = this.#writing;
    const writer =
      writing &&
      new SessionWriter(source, sourceId, { ...writing, known: writing.known(source, sourceId) }, messages > 0);
    this.#open = { source, sourceId, messages: 0, writer };
  }

  message(message: Message): void {
    if (!this.#open) return;
    this.#open.messages++;
    this.#open.writer?.add(message);
  }

  end(details: SessionDetails): void {
    const session = this.#open;
    this.#open = undefined;
    if (!session) return;
    session.writer?.finish(details);
    if (session.writer?.hasChanged) this.#writing?.onChanged(session.source, session.sourceId);
    this.#handlers.done(session.messages);
  }

  checkpoint(at: Checkpoint): void {
    this.#writing?.onCheckpoint?.(at);
  }

  reject(reason: string): void {
    if (this.#open) this.#handlers.left({ source: this.#open.source, sourceId: this.#open.sourceId, reason });
    this.#open = undefined;
  }

  lost(reason: string): void {
    this.#handlers.lost(reason, this.#open?.sourceId);
  }

  entry(line?: number): void {
    this.#handlers.entry(line);
  }

  skipped(): void {
    this.#handlers.skipped();
  }

  invalid(reason?: string): void {
    this.#handlers.invalid(reason);
  }

  unhandled(type: string): void {
    this.#handlers.unhandled(type);
  }

  pause(): Promise<void> {
    return this.#handlers.pause();
  }
}
