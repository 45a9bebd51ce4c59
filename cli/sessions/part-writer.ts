import type { Compressor } from "../sync/compression.ts";
import type { PartLimits, Session } from "./session.ts";

const MiB = 1024 * 1024;
/** Larger parts are compressed while they are read, and sent alone. */
const maxPlainBytes = 8 * MiB;

/** Minimum size of a compressed piece; most pieces of JSON have nearly 1 MiB. */
const minCompressedBytes = 768 * 1024;

/** Room for the fields of a batch and a session, which have at most 256 KiB. */
const computeReserve = (limit: number): number => Math.min(320 * 1024, Math.floor(limit / 8));

export const maxMessageBytes = ({ bytes }: PartLimits): number => bytes - computeReserve(bytes);

export const maxCompressedBytes = ({ wireBytes }: PartLimits): number => wireBytes - computeReserve(wireBytes);

/** Collects the JSON of one part within the server's limits, compressed if it is large. */
export class PartWriter {
  readonly #compressor: Compressor;
  readonly #limits: PartLimits;
  #plain: Buffer[] = [];
  #plainBytes = 0;
  #compressed: Buffer[] | undefined;
  #compressedBytes = 0;
  messages = 0;
  bytes = 0;

  constructor(head: string, compressor: Compressor, limits: PartLimits) {
    this.#compressor = compressor;
    this.#limits = limits;
    this.add(Buffer.from(head));
  }

  add(piece: Buffer): void {
    this.bytes += piece.length;
    this.#plainBytes += piece.length;
    const isLarge = this.#compressed || this.bytes > Math.min(maxPlainBytes, this.#limits.wireBytes / 2);
    if (isLarge && this.#plainBytes >= minCompressedBytes) this.#compress(piece);
    else this.#plain.push(Buffer.from(piece));
  }

  hasRoom(more: number): boolean {
    if (this.messages >= this.#limits.messages || this.bytes + more > maxMessageBytes(this.#limits)) return false;
    const max = maxCompressedBytes(this.#limits);
    if (this.#compressedBytes + this.#plainBytes + more > max && this.#plainBytes > 0) this.#compress();
    return this.#compressedBytes + more <= max;
  }

  #compress(next: Buffer = Buffer.alloc(0)): void {
    const compressed = this.#compressor.compressPiece(Buffer.concat([...this.#plain, next]));
    this.#plain = [];
    this.#plainBytes = 0;
    this.#compressed = [...(this.#compressed ?? []), compressed];
    this.#compressedBytes += compressed.length;
  }

  finish(tail: string): Pick<Session, "messages" | "bytes" | "body"> {
    this.add(Buffer.from(tail));
    if (this.#compressed && this.#plainBytes > 0) this.#compress();
    const { messages, bytes } = this;
    return {
      messages,
      bytes,
      body: this.#compressed
        ? { compressed: this.#compressed, compressedBytes: this.#compressedBytes }
        : { plain: this.#plain },
    };
  }
}
