import { createHash } from "node:crypto";
import type { Message, SessionDetails } from "../adapters/adapter.ts";
import type { Compressor } from "../sync/compression.ts";
import { formatBytes } from "../terminal/format.ts";
import type { Session, SessionLimits } from "./session.ts";

const MiB = 1024 * 1024;
/** Larger sessions are compressed while they are read, and sent alone. */
const maxPlainBytes = 8 * MiB;
const pieceChars = 256 * 1024;

/** Writes one session as JSON, hashes it and compresses a large one, in bounded memory. */
export class SessionWriter {
  readonly source: string;
  readonly sourceId: string;
  readonly #limits: SessionLimits;
  readonly #compressor: Compressor | undefined;
  readonly #hash = createHash("sha256");
  messages = 0;
  #bytes = 0;
  #text: string;
  #plain: Buffer[] = [];
  #compressed: Buffer[] | undefined;
  #compressedBytes = 0;

  /** @param compressor without one, messages are counted and no JSON is made */
  constructor(source: string, sourceId: string, limits: SessionLimits, compressor: Compressor | undefined) {
    this.source = source;
    this.sourceId = sourceId;
    this.#limits = limits;
    this.#compressor = compressor;
    this.#text = `{"source":${JSON.stringify(source)},"sourceId":${JSON.stringify(sourceId)},"messages":[`;
  }

  add(message: Message): void {
    const position = this.messages++;
    if (!this.#compressor) {
      // An estimate: enough to find sessions far over the limit.
      this.#bytes += (message.content?.length ?? 0) + 64;
      return;
    }
    const json = JSON.stringify(message) ?? "null";
    const hasPosition = typeof message !== "object" || message === null || message.position !== undefined;
    this.#text += (position > 0 ? "," : "") + (hasPosition ? "" : `{"position":${position},`);
    const rest = hasPosition ? json : json.slice(1);
    if (rest.length < pieceChars) this.#text += rest;
    else this.#addLong(rest);
    if (this.#text.length >= pieceChars) this.#flushText();
  }

  /** Appending a long text to the pending one would copy it. */
  #addLong(json: string): void {
    this.#flushText();
    this.#addPiece(Buffer.from(json));
  }

  #flushText(): void {
    const piece = Buffer.from(this.#text);
    this.#text = "";
    this.#addPiece(piece);
  }

  #addPiece(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#hash.update(piece);
    if (this.excess()) {
      // From here on its size is only measured.
      this.#plain = [];
      this.#compressed = [];
      return;
    }
    this.#plain.push(piece);
    if (this.#compressed || this.#bytes > maxPlainBytes) this.#compressWhenLarge();
  }

  #compressWhenLarge(): void {
    const bytes = this.#plain.reduce((sum, { length }) => sum + length, 0);
    if (!this.#compressed || bytes >= MiB) this.#compress();
  }

  #compress(): void {
    const [only] = this.#plain;
    const plain = only && this.#plain.length === 1 ? only : Buffer.concat(this.#plain);
    this.#compressed ??= [];
    const piece = this.#compressor?.compressPiece(plain) ?? plain;
    this.#compressed.push(piece);
    this.#compressedBytes += piece.length;
    this.#plain = [];
  }

  /** @returns the session; undefined without a compressor */
  finish({ model, title, project, createdAt, metadata, ...rest }: SessionDetails): Session | undefined {
    const details = { model, title, project, createdAt, metadata, ...rest };
    if (!this.#compressor) return undefined;
    const json = JSON.stringify(details);
    this.#text += `]${json === "{}" ? "" : `,${json.slice(1, -1)}`}}`;
    this.#flushText();
    if (this.#compressed && this.#plain.length > 0) this.#compress();
    const cwd = metadata?.cwd;
    return {
      source: this.source,
      sourceId: this.sourceId,
      messages: this.messages,
      bytes: this.#bytes,
      hash: this.#hash.digest("base64url"),
      project,
      cwd: typeof cwd === "string" ? cwd : undefined,
      body: this.#compressed
        ? { compressed: this.#compressed, compressedBytes: this.#compressedBytes }
        : { plain: this.#plain },
    };
  }

  /** Which of the server's limits it exceeds, in words; undefined where none. */
  excess(): string | undefined {
    const { bytes, messages } = this.#limits;
    if (this.#bytes > bytes) return `it has ${formatBytes(this.#bytes)}; the server's limit is ${formatBytes(bytes)}`;
    if (this.messages > messages) return `it has ${this.messages} messages; the server's limit is ${messages}`;
    return undefined;
  }
}
