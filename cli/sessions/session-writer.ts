import { createHash } from "node:crypto";
import type { Message, SessionDetails } from "../adapters/adapter.ts";
import type { Picture } from "../adapters/pictures.ts";
import type { Compressor } from "../sync/compression.ts";
import { JsonBytes } from "./json-bytes.ts";
import { maxCompressedBytes, maxMessageBytes, PartWriter } from "./part-writer.ts";
import { getLabels, type KnownSession, type PartLimits, type SentState, type Session } from "./session.ts";
import { shortenMessage } from "./shorten.ts";

const separator = Buffer.from(",");
/** A session with this many segments gets a single one when it is read whole. */
const manySegments = 64;

export type WriterOptions = {
  limits: PartLimits;
  compressor: Compressor;
  known: KnownSession;
  onPart(part: Session): void;
  onPicture?(picture: Picture, session: { source: string; sourceId: string }): void;
};

/**
 * Messages that were sent before are only hashed; if they changed, `hasChanged` is true at the end, no part was
 * written, and the session must be read again.
 */
export class SessionWriter {
  readonly source: string;
  readonly sourceId: string;
  readonly #options: WriterOptions;
  readonly #counts: number[];
  readonly #digest: MessageDigest;
  readonly #single: MessageDigest | undefined;
  #ended = 0;
  #chain = "";
  #part: PartWriter | undefined;
  readonly #json = new JsonBytes((piece) => this.#addPiece(piece));
  #isFirst = true;
  messages = 0;
  hasChanged = false;
  hasPictures = false;

  constructor(source: string, sourceId: string, options: WriterOptions, isResumed = false) {
    this.source = source;
    this.sourceId = sourceId;
    this.#options = options;
    this.#counts = [...(options.known.state?.counts ?? [])];
    if (isResumed) {
      this.messages = this.#counts.at(-1) ?? 0;
      this.#ended = this.#counts.length;
      this.#chain = options.known.state?.digest ?? "";
    } else if (this.#counts.length >= manySegments) this.#single = new MessageDigest();
    this.#digest = new MessageDigest(this.#chain);
    if (isResumed || this.#counts.length === 0) this.#beginPart();
  }

  #beginPart(): void {
    const { compressor, limits, known } = this.#options;
    const append = this.messages > 0 ? { append: { count: this.messages } } : {};
    const replace = this.messages === 0 && known.replaces ? { replace: true } : {};
    const head = JSON.stringify({ source: this.source, sourceId: this.sourceId, ...append, ...replace });
    this.#part = new PartWriter(`${head.slice(0, -1)},"messages":[`, compressor, limits);
  }

  add(message: Message, pictures: readonly Picture[] = []): void {
    if (this.hasChanged) return;
    const isMessage = typeof message === "object" && message !== null;
    const isPlaced = !isMessage || message.position !== undefined;
    const json = this.#encode(isPlaced ? message : { position: this.messages, ...message });
    this.hasPictures ||= isMessage && message.metadata?.pictures !== undefined;
    if (this.#part && this.#part.messages > 0 && !this.#hasRoom(json)) this.#endPart();
    this.messages++;
    if (this.#part) this.#part.messages++;
    if (this.#part) for (const picture of pictures) this.#options.onPicture?.(picture, this);
    this.#append(json);
    if (this.messages === this.#counts[this.#ended]) this.#endSegment();
  }

  #encode(message: Message): string {
    const json = JSON.stringify(message) ?? "null";
    const { limits, compressor } = this.#options;
    const max = maxMessageBytes(limits);
    const maxWire = maxCompressedBytes(limits);
    if (json.length * 3 <= Math.min(max, maxWire) || typeof message !== "object") return json;
    const bytes = Buffer.byteLength(json);
    const isWireTight = bytes > maxWire && compressor.compressPiece(Buffer.from(json)).length > maxWire;
    const allowed = isWireTight ? Math.min(max, maxWire) : max;
    return bytes <= allowed ? json : JSON.stringify(shortenMessage(message, allowed));
  }

  /** Uses an upper bound first, because exact lengths cost time. */
  #hasRoom(json: string): boolean {
    const part = this.#part;
    if (!part || part.hasRoom(this.#json.length + 3 * json.length + 1)) return true;
    this.#json.flush();
    return part.hasRoom(Buffer.byteLength(json) + 1);
  }

  #append(json: string): void {
    // The separator belongs to a part's JSON, but not to the digest of a segment.
    if (!this.#isFirst) this.#json.add(",");
    else if (this.messages > 1) this.#single?.add(separator);
    this.#isFirst = false;
    this.#json.add(json);
  }

  #addPiece(piece: Buffer): void {
    this.#digest.add(piece);
    this.#single?.add(piece);
    this.#part?.add(piece);
  }

  #endSegment(): void {
    this.#json.flush();
    this.#isFirst = true;
    this.#chain = this.#digest.cut();
    this.#ended++;
    if (this.#ended < this.#counts.length) return;
    if (this.#chain === this.#options.known.state?.digest) this.#beginPart();
    else this.hasChanged = true;
  }

  #endPart(): void {
    this.#cut();
    const part = this.#part?.finish("]}");
    const state = this.#withSalt({ hash: "", counts: [...this.#counts], digest: this.#chain });
    if (part)
      this.#options.onPart({ ...this.#labels({}), ...part, ...this.#place(part.messages), isLast: false, state });
    this.#beginPart();
  }

  #cut(): void {
    this.#json.flush();
    this.#isFirst = true;
    if (this.messages === (this.#counts.at(-1) ?? 0)) return;
    this.#chain = this.#digest.cut();
    this.#counts.push(this.messages);
    this.#ended = this.#counts.length;
  }

  #place(messages: number): Pick<Session, "append" | "hasPictures"> {
    const before = this.messages - messages;
    return { append: before === 0 ? undefined : before, hasPictures: this.hasPictures };
  }

  #labels(details: SessionDetails) {
    return { ...getLabels(this.source, details), sourceId: this.sourceId };
  }

  finish({ model, title, project, createdAt, metadata, replace, append, ...rest }: SessionDetails): void {
    // In a file of sessions these two apply to whole sessions only.
    const isWhole = this.messages === this.#part?.messages;
    const details = { model, title, project, createdAt, metadata, ...rest, ...(isWhole && { replace, append }) };
    if (this.#ended < this.#counts.length) this.hasChanged = true;
    this.#json.release();
    if (this.hasChanged || !this.#part) return;
    const json = JSON.stringify(details);
    // Omitted fields keep their stored values, even the mark of a session that had no content.
    const sent = isWhole || metadata !== undefined ? json : JSON.stringify({ ...details, metadata: {} });
    this.#cut();
    const part = this.#part.finish(`]${sent === "{}" ? "" : `,${sent.slice(1, -1)}`}}`);
    const state = this.#stateWith(json);
    this.#options.onPart({ ...this.#labels(details), ...part, ...this.#place(part.messages), isLast: true, state });
  }

  #stateWith(details: string): SentState {
    const isGrown = this.messages > (this.#options.known.state?.counts.at(-1) ?? 0);
    const single = isGrown ? this.#single?.cut() : undefined;
    const digest = single ?? this.#chain;
    const hash = createHash("sha256").update(`${digest}\n${details}`).digest("base64url");
    return this.#withSalt({ hash, counts: single ? [this.messages] : this.#counts, digest });
  }

  #withSalt(state: SentState): SentState {
    const salt = this.#options.known.state?.salt;
    return salt === undefined ? state : { ...state, salt };
  }
}

/** A chain of SHA-256 over segments lets a grown session's digest continue without earlier segments. */
class MessageDigest {
  #chain: string;
  #segment = createHash("sha256");

  constructor(chain = "") {
    this.#chain = chain;
  }

  add(piece: Buffer): void {
    this.#segment.update(piece);
  }

  cut(): string {
    const segment = this.#segment.digest("base64url");
    this.#segment = createHash("sha256");
    this.#chain = createHash("sha256").update(`${this.#chain}\n${segment}`).digest("base64url");
    return this.#chain;
  }
}
