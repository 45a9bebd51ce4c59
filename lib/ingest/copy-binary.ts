// Runs in the decoding thread.
import type { BatchMessage } from "#lib/ingest/batch";

const signature = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const trailer = Buffer.from([0xff, 0xff]);
const chunkBytes = 1 << 20;
/** PostgreSQL counts microseconds from 2000-01-01, JavaScript milliseconds from 1970-01-01. */
const epochDifferenceMs = 946_684_800_000;
const fields = 8;
/** The length that stands for NULL. */
const absent = -1;

export const messageColumns = "user_id, trace_id, position, role, content, token_count, created_at, metadata";

/**
 * Writes message rows in PostgreSQL's binary COPY format (its documentation, "COPY", "Binary Format"), which needs no
 * escaping on either side.
 */
export class MessageCopy {
  #chunk = Buffer.allocUnsafeSlow(chunkBytes);
  #at = 0;
  #done: Uint8Array<ArrayBuffer>[] = [];

  constructor() {
    this.#bytes(signature);
  }

  row(userId: Uint8Array, traceId: Uint8Array, message: BatchMessage): void {
    this.#int16(fields);
    this.#field(userId);
    this.#field(traceId);
    this.#int32Field(message.position);
    this.#text(message.role);
    this.#text(message.content);
    this.#int32Field(message.tokenCount);
    this.#time(message.createdAt);
    this.#json(message.metadata);
  }

  /** Ends the stream; `take` then gives the rest of it. */
  finish(): void {
    this.#bytes(trailer);
    this.#next(chunkBytes);
  }

  /** The full chunks since the last call, each with memory of its own that can be handed to another thread. */
  take(): Uint8Array<ArrayBuffer>[] {
    return this.#done.splice(0);
  }

  #room(bytes: number): void {
    if (this.#at + bytes > this.#chunk.length) this.#next(Math.max(chunkBytes, bytes));
  }

  #next(bytes: number): void {
    this.#done.push(this.#chunk.subarray(0, this.#at));
    this.#chunk = Buffer.allocUnsafeSlow(bytes);
    this.#at = 0;
  }

  #bytes(bytes: Uint8Array): void {
    this.#room(bytes.byteLength);
    this.#chunk.set(bytes, this.#at);
    this.#at += bytes.byteLength;
  }

  #int16(value: number): void {
    this.#room(2);
    this.#at = this.#chunk.writeInt16BE(value, this.#at);
  }

  #int32(value: number): void {
    this.#room(4);
    this.#at = this.#chunk.writeInt32BE(value, this.#at);
  }

  #null(): undefined {
    this.#int32(absent);
  }

  #field(bytes: Uint8Array): void {
    this.#int32(bytes.byteLength);
    this.#bytes(bytes);
  }

  #int32Field(value: number | null): undefined {
    if (value === null) return this.#null();
    this.#int32(4);
    this.#int32(value);
  }

  #text(text: string | null): undefined {
    if (text === null) return this.#null();
    // A UTF-16 unit takes at most three bytes of UTF-8; counting them first costs another pass.
    this.#room(4 + text.length * 3);
    const written = this.#chunk.write(text, this.#at + 4, "utf8");
    this.#chunk.writeInt32BE(written, this.#at);
    this.#at += 4 + written;
  }

  #json(json: string | null): undefined {
    if (json === null) return this.#null();
    const version = 1;
    this.#room(5 + json.length * 3);
    const written = this.#chunk.write(json, this.#at + 5, "utf8");
    this.#chunk.writeInt32BE(written + 1, this.#at);
    this.#chunk[this.#at + 4] = version;
    this.#at += 5 + written;
  }

  #time(milliseconds: number | null): undefined {
    if (milliseconds === null) return this.#null();
    this.#int32(8);
    this.#room(8);
    this.#at = this.#chunk.writeBigInt64BE(BigInt(milliseconds - epochDifferenceMs) * 1000n, this.#at);
  }
}
