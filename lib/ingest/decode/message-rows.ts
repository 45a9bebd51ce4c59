// Runs in the decoding thread: message rows in PostgreSQL's binary COPY format.
import type { BatchMessage } from "#lib/ingest/decode/parser";

/** The columns of a row. The content comes first: it is copied while it is scanned, before the other fields are known. */
export const messageColumns = "user_id, trace_id, content, position, role, token_count, created_at, metadata";

/** PostgreSQL counts microseconds from 2000-01-01, JavaScript milliseconds from 1970-01-01. */
const epochDifferenceMs = 946_684_800_000;
const fields = 8;
/** The length that means NULL. */
const absent = -1;
const jsonbVersion = 1;
const idBytes = 16;

/** The start of each row: the number of fields, and the two ids, which `fillIn` sets. */
const head = Buffer.alloc(2 + 4 + idBytes + 4 + idBytes);
head.writeInt16BE(fields, 0);
head.writeInt32BE(idBytes, 2);
head.writeInt32BE(idBytes, 2 + 4 + idBytes);
const userIdAt = 2 + 4;
const traceIdAt = userIdAt + idBytes + 4;
const contentAt = head.length;

/** The fields after the content, without the bytes of role and metadata: position, role, tokens, time and metadata. */
const tailBytes = 8 + 4 + 8 + 12 + 4;

/**
 * The message rows of one trace in one buffer. Until the ids are filled in, equal messages are equal bytes, so the buffer's
 * hash is part of the trace's content hash.
 */
export class MessageRows {
  bytes = Buffer.allocUnsafeSlow(64 * 1024);
  /** The number of bytes written. */
  end = 0;

  /** Grows the buffer so that `more` bytes fit. */
  reserve(more: number): void {
    if (this.end + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.end + more, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.end);
    this.bytes = larger;
  }

  /** Starts a row. The caller writes its content at `end` and then calls `finish`. */
  begin(): void {
    this.reserve(head.length + 4);
    this.bytes.set(head, this.end);
    this.end += head.length + 4;
  }

  /** Finishes the row that starts at `start`, whose content was written after its head. */
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

  /** Appends a row. */
  add(message: BatchMessage): void {
    const start = this.end;
    this.begin();
    // A UTF-16 unit takes at most three bytes of UTF-8; counting exactly would cost another pass.
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

  /** The offset of the row after the one at `start`. */
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

  /** The row at `start` without its ids and metadata, as COPY has it; and the text of its metadata. */
  parts(start: number): { fields: Buffer; metadata: Buffer | null } {
    const from = start + contentAt;
    let at = from;
    for (let field = 2; field < fields - 1; field += 1) at += 4 + Math.max(0, this.bytes.readInt32BE(at));
    const length = this.bytes.readInt32BE(at);
    const metadata = length === absent ? null : this.bytes.subarray(at + 5, at + 4 + length);
    return { fields: this.bytes.subarray(from, at), metadata };
  }

  /** A copy of the rows, for `restore`. */
  save(): Buffer<ArrayBuffer> {
    return Buffer.from(this.bytes.subarray(0, this.end));
  }

  /** Replaces all rows by saved ones, whose buffer is used from then on. */
  restore(saved: Buffer<ArrayBuffer>): void {
    this.bytes = saved;
    this.end = saved.length;
  }

  /** Removes the rows with the given positions. */
  remove(positions: ReadonlySet<number>): void {
    let end = 0;
    for (let from = 0; from < this.end; ) {
      const to = this.next(from);
      if (!positions.has(this.read(from).position)) end += this.bytes.copy(this.bytes, end, from, to);
      from = to;
    }
    this.end = end;
  }

  /** Sorts the rows by position. @returns false if a position occurs twice */
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

  /** Sets the ids in every row. */
  fillIn(userId: Uint8Array, traceId: Uint8Array): void {
    for (let at = 0; at < this.end; at = this.next(at)) {
      this.bytes.set(userId, at + userIdAt);
      this.bytes.set(traceId, at + traceIdAt);
    }
  }
}
