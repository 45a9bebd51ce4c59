import { createHash } from "node:crypto";
import type { Message, SessionDetails, Sink } from "../adapters/adapter.ts";
import type { Compressor } from "../sync/compression.ts";

const MiB = 1024 * 1024;
/** Sessions of more bytes than this are compressed while they are read, and travel alone. */
const maxPlainBytes = 8 * MiB;
const pieceChars = 256 * 1024;

/** A session as JSON, ready to be sent. */
export type Session = {
  source: string;
  sourceId: string;
  messages: number;
  /** Of its JSON. */
  bytes: number;
  /** SHA-256 of its JSON, as base64url. */
  hash: string;
  project: string | undefined;
  cwd: string | undefined;
  /** Its JSON, or for a large one that JSON in compressed pieces that follow each other. */
  body: { plain: Buffer[] } | { packed: Buffer[]; packedBytes: number };
};

export type UnsentSession = { source: string; sourceId: string; reason: string };

/** What an input may become; bytes and counts as `GET /api/limits` has them. */
export type Bounds = { bytes: number; messages: number };

type Handlers = {
  /** Is given each session that is whole; `session` is undefined where nothing is to be sent. */
  done(about: { source: string; sourceId: string; messages: number }, session: Session | undefined): void;
  left(left: UnsentSession): void;
  /** `sourceId` is the session's to which it belongs, where one has begun. */
  lost(reason: string, sourceId: string | undefined): void;
  entry(): void;
  skipped(): void;
  invalid(): void;
  unhandled(type: string): void;
  pause(): Promise<void>;
};

/**
 * Turns what an adapter tells into sessions, in bounded memory.
 *
 * @param compressor compresses what is sent; without one, sessions are counted only
 */
export class Collector implements Sink {
  readonly #handlers: Handlers;
  readonly #bounds: Bounds;
  readonly #compressor: Compressor | undefined;
  #open: SessionWriter | undefined;

  constructor(handlers: Handlers, bounds: Bounds, compressor?: Compressor) {
    this.#handlers = handlers;
    this.#bounds = bounds;
    this.#compressor = compressor;
  }

  begin(source: string, sourceId: string): void {
    this.#open = new SessionWriter(source, sourceId, this.#bounds, this.#compressor);
  }

  message(message: Message): void {
    this.#open?.add(message);
  }

  end(ending: SessionDetails): void {
    const draft = this.#open;
    this.#open = undefined;
    if (!draft) return;
    const { source, sourceId, messages } = draft;
    const session = draft.finish(ending);
    const excess = draft.excess();
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

  entry(): void {
    this.#handlers.entry();
  }

  skipped(): void {
    this.#handlers.skipped();
  }

  invalid(): void {
    this.#handlers.invalid();
  }

  unhandled(type: string): void {
    this.#handlers.unhandled(type);
  }

  pause(): Promise<void> {
    return this.#handlers.pause();
  }
}

class SessionWriter {
  readonly source: string;
  readonly sourceId: string;
  readonly #bounds: Bounds;
  readonly #compressor: Compressor | undefined;
  readonly #hash = createHash("sha256");
  messages = 0;
  #bytes = 0;
  #text: string;
  #plain: Buffer[] = [];
  #packed: Buffer[] | undefined;
  #packedBytes = 0;

  constructor(source: string, sourceId: string, bounds: Bounds, compressor: Compressor | undefined) {
    this.source = source;
    this.sourceId = sourceId;
    this.#bounds = bounds;
    this.#compressor = compressor;
    this.#text = `{"source":${JSON.stringify(source)},"sourceId":${JSON.stringify(sourceId)},"messages":[`;
  }

  add(message: Message): void {
    const position = this.messages++;
    if (!this.#compressor) {
      // Close enough to tell a session that is far too large; its JSON is not made.
      this.#bytes += (message.content?.length ?? 0) + 64;
      return;
    }
    const json = JSON.stringify(message) ?? "null";
    const isPlaced = typeof message !== "object" || message === null || message.position !== undefined;
    this.#text += (position > 0 ? "," : "") + (isPlaced ? "" : `{"position":${position},`);
    const rest = isPlaced ? json : json.slice(1);
    if (rest.length < pieceChars) this.#text += rest;
    else this.#takeLong(rest);
    if (this.#text.length >= pieceChars) this.#take();
  }

  /** Joined to other text it would stand in memory once more. */
  #takeLong(json: string): void {
    this.#take();
    this.#add(Buffer.from(json));
  }

  #take(): void {
    const piece = Buffer.from(this.#text);
    this.#text = "";
    this.#add(piece);
  }

  #add(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#hash.update(piece);
    if (this.excess()) {
      // What can't be sent is only measured from here on.
      this.#plain = [];
      this.#packed = [];
      return;
    }
    this.#plain.push(piece);
    if (this.#packed || this.#bytes > maxPlainBytes) this.#pack();
  }

  #pack(): void {
    const bytes = this.#plain.reduce((sum, { length }) => sum + length, 0);
    if (!this.#packed || bytes >= MiB) this.#flush();
  }

  #flush(): void {
    const [only] = this.#plain;
    const plain = only && this.#plain.length === 1 ? only : Buffer.concat(this.#plain);
    this.#packed ??= [];
    const piece = this.#compressor?.piece(plain) ?? plain;
    this.#packed.push(piece);
    this.#packedBytes += piece.length;
    this.#plain = [];
  }

  finish({ model, title, project, createdAt, metadata, ...rest }: SessionDetails): Session | undefined {
    const known = { model, title, project, createdAt, metadata, ...rest };
    if (!this.#compressor) return undefined;
    const json = JSON.stringify(known);
    this.#text += `]${json === "{}" ? "" : `,${json.slice(1, -1)}`}}`;
    this.#take();
    if (this.#packed && this.#plain.length > 0) this.#flush();
    const cwd = metadata?.cwd;
    return {
      source: this.source,
      sourceId: this.sourceId,
      messages: this.messages,
      bytes: this.#bytes,
      hash: this.#hash.digest("base64url"),
      project,
      cwd: typeof cwd === "string" ? cwd : undefined,
      body: this.#packed ? { packed: this.#packed, packedBytes: this.#packedBytes } : { plain: this.#plain },
    };
  }

  /** Why the server would not take it, where that is known. */
  excess(): string | undefined {
    const { bytes, messages } = this.#bounds;
    if (this.#bytes > bytes)
      return `it has ${formatBytes(this.#bytes)}, and the server takes up to ${formatBytes(bytes)}`;
    if (this.messages > messages) return `it has ${this.messages} messages, and the server takes up to ${messages}`;
    return undefined;
  }
}

/** Bytes as people read them. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const [divisor, unit] = bytes < 1024 * 1000 ? [1024, "KiB"] : bytes < MiB * 1000 ? [MiB, "MiB"] : [MiB * 1024, "GiB"];
  const amount = bytes / divisor;
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}
