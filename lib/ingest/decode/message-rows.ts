// Runs in the decoding thread: message rows in PostgreSQL's binary COPY format.
import type { BatchMessage } from "#lib/ingest/decode/parser";

/** The columns of a row. The content comes first: it is copied as it is read, before the rest of the message is known. */
export const messageColumns = "user_id, trace_id, content, position, role, token_count, created_at, metadata";

/** PostgreSQL counts microseconds from 2000-01-01, JavaScript milliseconds from 1970-01-01. */
const epochDifferenceMs = 946_684_800_000;
const fields = 8;
/** The length that stands for NULL. */
const absent = -1;
const jsonbVersion = 1;
const idBytes = 16;

/** What each row begins with: the number of fields, and the two ids, which are filled in when they are known. */
const head = Buffer.alloc(2 + 4 + idBytes + 4 + idBytes);
head.writeInt16BE(fields, 0);
head.writeInt32BE(idBytes, 2);
head.writeInt32BE(idBytes, 2 + 4 + idBytes);
const userIdAt = 2 + 4;
const traceIdAt = userIdAt + idBytes + 4;
const contentAt = head.length;

/** The fields of a row behind its content: position, role, tokens, time and metadata with a length each. */
const tailBytes = 8 + 4 + 8 + 12 + 4;

/**
 * The rows of one trace, one behind the other in one block of memory. Without ids the same messages are the same bytes,
 * so that their hash is the trace's.
 */
export class Rows {
  bytes = Buffer.allocUnsafeSlow(64 * 1024);
  /** Where the next byte is written; all before it is rows. */
  end = 0;

  /** Makes room for some more bytes. */
  reserve(more: number): void {
    if (this.end + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.end + more, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.end);
    this.bytes = larger;
  }

  /** Begins a row; its content is to be written next, between `end` and a call of `finish`. */
  begin(): void {
    this.reserve(head.length + 4);
    this.bytes.set(head, this.end);
    this.end += head.length + 4;
  }

  /** Ends the row that began at `start`: what lies behind its head is its content. */
  finish(
    start: number,
    position: number,
    role: Uint8Array | string | null,
    tokenCount: number | null,
    createdAt: number | null,
    metadata: string | null,
  ): void {
    const contentLength = this.end - start - contentAt - 4;
    this.bytes.writeInt32BE(contentLength, start + contentAt);
    this.reserve(tailBytes + (role?.length ?? 0) * 3);
    this.#int32(4);
    this.#int32(position);
    if (role === null) this.#null();
    else if (typeof role === "string") this.#text(role);
    else this.#raw(role);
    if (tokenCount === null) {
      this.#null();
    } else {
      this.#int32(4);
      this.#int32(tokenCount);
    }
    this.#time(createdAt);
    this.#json(metadata);
  }

  /** Writes a whole row. */
  add(message: BatchMessage): void {
    const start = this.end;
    this.begin();
    // A UTF-16 unit takes at most three bytes of UTF-8; counting them first costs another pass.
    this.reserve(message.content.length * 3);
    this.end += this.bytes.write(message.content, this.end, "utf8");
    this.finish(start, message.position, message.role, message.tokenCount, message.createdAt, message.metadata);
  }

  #int32(value: number): void {
    this.end = this.bytes.writeInt32BE(value, this.end);
  }

  #null(): undefined {
    this.#int32(absent);
  }

  #raw(bytes: Uint8Array): void {
    this.#int32(bytes.byteLength);
    this.bytes.set(bytes, this.end);
    this.end += bytes.byteLength;
  }

  #text(text: string): void {
    const written = this.bytes.write(text, this.end + 4, "utf8");
    this.#int32(written);
    this.end += written;
  }

  #time(milliseconds: number | null): undefined {
    if (milliseconds === null) return this.#null();
    this.#int32(8);
    this.end = this.bytes.writeBigInt64BE(BigInt(milliseconds - epochDifferenceMs) * 1000n, this.end);
  }

  #json(json: string | null): undefined {
    if (json === null) return this.#null();
    this.reserve(5 + json.length * 3);
    const written = this.bytes.write(json, this.end + 5, "utf8");
    this.#int32(written + 1);
    this.bytes[this.end] = jsonbVersion;
    this.end += 1 + written;
  }

  /** Where the row behind the one at `start` begins. */
  next(start: number): number {
    let at = start + contentAt;
    for (let field = 2; field < fields; field += 1) at += 4 + Math.max(0, this.bytes.readInt32BE(at));
    return at;
  }

  /** The position, role and content of the row at `start`. */
  read(start: number): { position: number; role: string | null; content: Buffer } {
    const contentLength = this.bytes.readInt32BE(start + contentAt);
    const content = this.bytes.subarray(start + contentAt + 4, start + contentAt + 4 + contentLength);
    const positionAt = content.byteOffset - this.bytes.byteOffset + contentLength + 4;
    const roleLength = this.bytes.readInt32BE(positionAt + 4);
    const roleAt = positionAt + 8;
    return {
      position: this.bytes.readInt32BE(positionAt),
      role: roleLength === absent ? null : this.bytes.toString("utf8", roleAt, roleAt + roleLength),
      content,
    };
  }

  /** Puts the rows in the order of their positions. @returns false where one stands twice */
  sort(): boolean {
    const rows: { position: number; from: number; to: number }[] = [];
    for (let from = 0; from < this.end; ) {
      const to = this.next(from);
      rows.push({ position: this.read(from).position, from, to });
      from = to;
    }
    rows.sort((a, b) => a.position - b.position);
    if (rows.some(({ position }, index) => position === rows[index - 1]?.position)) return false;
    const sorted = Buffer.allocUnsafeSlow(this.bytes.length);
    let at = 0;
    for (const { from, to } of rows) at += this.bytes.copy(sorted, at, from, to);
    this.bytes = sorted;
    return true;
  }

  /** Writes the ids into every row. */
  fillIn(userId: Uint8Array, traceId: Uint8Array): void {
    for (let at = 0; at < this.end; at = this.next(at)) {
      this.bytes.set(userId, at + userIdAt);
      this.bytes.set(traceId, at + traceIdAt);
    }
  }
}
