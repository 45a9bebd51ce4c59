import type { Message, SessionDetails, Sink } from "../adapters/adapter.ts";
import type { Compressor } from "../sync/compression.ts";
import type { Session, SessionLimits, UnsentSession } from "./session.ts";
import { SessionWriter } from "./session-writer.ts";

type Handlers = {
  /** Called for each complete session; `session` is undefined without a compressor. */
  done(about: { source: string; sourceId: string; messages: number }, session: Session | undefined): void;
  left(left: UnsentSession): void;
  /** `sourceId` is that of the session being read, where there is one. */
  lost(reason: string, sourceId: string | undefined): void;
  entry(line: number | undefined): void;
  skipped(): void;
  invalid(reason: string | undefined): void;
  unhandled(type: string): void;
  pause(): Promise<void>;
};

/** Turns an adapter's events into sessions, in bounded memory. */
export class Collector implements Sink {
  readonly #handlers: Handlers;
  readonly #limits: SessionLimits;
  readonly #compressor: Compressor | undefined;
  #open: SessionWriter | undefined;

  /** @param compressor without one, sessions are only counted */
  constructor(handlers: Handlers, limits: SessionLimits, compressor?: Compressor) {
    this.#handlers = handlers;
    this.#limits = limits;
    this.#compressor = compressor;
  }

  begin(source: string, sourceId: string): void {
    this.#open = new SessionWriter(source, sourceId, this.#limits, this.#compressor);
  }

  message(message: Message): void {
    this.#open?.add(message);
  }

  end(details: SessionDetails): void {
    const writer = this.#open;
    this.#open = undefined;
    if (!writer) return;
    const { source, sourceId, messages } = writer;
    const session = writer.finish(details);
    const excess = writer.excess();
    if (excess) this.#handlers.left({ source, sourceId, reason: excess });
    else this.#handlers.done({ source, sourceId, messages }, session);
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
