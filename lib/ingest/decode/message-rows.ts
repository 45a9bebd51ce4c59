// Message rows in PostgreSQL's binary COPY format.

import { limits } from "#lib/core/limits";
import type { BatchMessage } from "#lib/ingest/decode/normalize";
import { readReferences } from "#lib/transcript/pictures";

export const messageColumns = "user_id, trace_id, content, position, role, token_count, created_at, metadata";

/** PostgreSQL counts microseconds from 2000-01-01, JavaScript milliseconds from 1970-01-01. */
const epochDifferenceMs = 946_684_800_000;
const fields = 8;
/** the length of NULL */
const absent = -1;
const jsonbVersion = 1;
const idBytes = 16;

const head = Buffer.alloc(2 + 4 + idBytes + 4 + idBytes);
head.writeInt16BE(fields, 0);
head.writeInt32BE(idBytes, 2);
head.writeInt32BE(idBytes, 2 + 4 + idBytes);
const userIdAt = 2 + 4;
const traceIdAt = userIdAt + idBytes + 4;
const contentAt = head.length;

/** Without the bytes of role and metadata. */
const tailBytes = 8 + 4 + 8 + 12 + 5;

const [firstBlockBytes, maxBlockBytes] = [16 << 10, 1 << 20];

/** A UTF-16 unit takes at most three bytes of UTF-8, and an exact count another pass. */
const maxBytes = (text: string | null): number =>
  text === null ? 0 : text.length > 1 << 20 ? Buffer.byteLength(text) : text.length * 3;

/** Until the ids are set, equal messages are equal bytes, which the content hash needs. */
export class MessageRows {
  bytes: Buffer;
  end: number;
  #blockBytes = firstBlockBytes;

  constructor(bytes?: Buffer) {
    this.bytes = bytes ?? Buffer.alloc(0);
    this.end = bytes?.byteLength ?? 0;
  }

  /** An allocation for each trace would make V8 collect its heap. */
  take(): Buffer {
    const rows = this.bytes.subarray(0, this.end);
    this.bytes = this.bytes.subarray(this.end);
    this.end = 0;
    return rows;
  }

  #reserve(more: number): void {
    if (this.end + more <= this.bytes.length) return;
    const block = Buffer.allocUnsafeSlow(Math.max(2 * (this.end + more), this.#blockBytes));
    this.#blockBytes = Math.min(2 * this.#blockBytes, maxBlockBytes);
    this.bytes.copy(block, 0, 0, this.end);
    this.bytes = block;
  }

  add({ content, position, role, tokenCount, createdAt, metadata }: BatchMessage): void {
    this.#reserve(
      head.length + 4 + tailBytes + [content, role, metadata].reduce((sum, text) => sum + maxBytes(text), 0),
    );
    this.bytes.set(head, this.end);
    this.end += head.length;
    this.#text(content);
    this.#int32(4);
    this.#int32(position);
    if (role === null) this.#null();
    else this.#text(role);
    if (tokenCount === null) this.#null();
    else {
      this.#int32(4);
      this.#int32(tokenCount);
    }
    this.#time(createdAt);
    this.#json(metadata);
  }

  #int32(value: number): void {
    this.end = this.bytes.writeInt32BE(value, this.end);
  }

  #null(): undefined {
    this.#int32(absent);
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
    const written = this.bytes.write(json, this.end + 5, "utf8");
    this.#int32(written + 1);
    this.bytes[this.end] = jsonbVersion;
    this.end += 1 + written;
  }

  next(start: number): number {
    return endOfRow(this.bytes, start) ?? this.end;
  }

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

  parts(start: number): { fields: Buffer; metadata: Buffer | null } {
    const from = start + contentAt;
    let at = from;
    for (let field = 2; field < fields - 1; field += 1) at += 4 + Math.max(0, this.bytes.readInt32BE(at));
    const length = this.bytes.readInt32BE(at);
    const metadata = length === absent ? null : this.bytes.subarray(at + 5, at + 4 + length);
    return { fields: this.bytes.subarray(from, at), metadata };
  }

  *without(positions: ReadonlySet<number>): Generator<Buffer> {
    let from = 0;
    for (let at = 0; at < this.end; ) {
      const next = this.next(at);
      if (positions.has(this.read(at).position)) {
        yield this.bytes.subarray(from, at);
        from = next;
      }
      at = next;
    }
    yield this.bytes.subarray(from, this.end);
  }

  fillIn(userId: Uint8Array, traceId: Uint8Array): void {
    for (let at = 0; at < this.end; at = this.next(at)) {
      this.bytes.set(userId, at + userIdAt);
      this.bytes.set(traceId, at + traceIdAt);
    }
  }
}

export function endOfRow(bytes: Buffer, start: number): number | undefined {
  let at = start + contentAt;
  for (let field = 2; field < fields; field += 1) {
    if (at + 4 > bytes.length) return undefined;
    at += 4 + Math.max(0, bytes.readInt32BE(at));
  }
  return at <= bytes.length ? at : undefined;
}

export function readRow(bytes: Buffer, start: number): BatchMessage {
  let at = start + contentAt;
  const next = (): Buffer | null => {
    const length = bytes.readInt32BE(at);
    const from = at + 4;
    at = from + Math.max(0, length);
    return length === absent ? null : bytes.subarray(from, at);
  };
  const [content, position, role, tokens, time, json] = [next(), next(), next(), next(), next(), next()];
  return {
    content: content?.toString() ?? "",
    position: position?.readInt32BE() ?? 0,
    role: role?.toString() ?? null,
    tokenCount: tokens?.readInt32BE() ?? null,
    createdAt: time && Number(time.readBigInt64BE() / 1000n) + epochDifferenceMs,
    metadata: json?.toString("utf8", 1) ?? null,
  };
}

const field = '"pictures"';

export function picturesIn(rows: MessageRows): { position: number; sha256: string }[] {
  const found: { position: number; sha256: string }[] = [];
  // Few sessions have any, and one search of all bytes is cheaper than one per row.
  if (!rows.bytes.subarray(0, rows.end).includes(field)) return found;
  for (let at = 0; at < rows.end && found.length < limits.pictures.perTrace; at = rows.next(at)) {
    const { metadata } = rows.parts(at);
    if (!metadata?.includes(field)) continue;
    const hashes = new Set(readReferences(JSON.parse(metadata.toString("utf8"))).map(({ sha256 }) => sha256));
    const { position } = rows.read(at);
    found.push(...[...hashes].map((sha256) => ({ position, sha256 })));
  }
  return found.slice(0, limits.pictures.perTrace);
}
