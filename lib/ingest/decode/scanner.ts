// Runs in the decoding thread: the quick reading of a batch. Most batches are plain (the fields of the interface, in
// UTF-8, with ordinary escapes), and those go from the bytes of the request to the bytes of COPY without a JavaScript
// value in between: docs/decisions/0009. Whatever is not plain is for the careful reader in batch.ts to judge.
import { isUtf8 } from "node:buffer";
import type { MessageRows } from "#lib/ingest/decode/message-rows";
import { type BatchMessage, normalizeMessage, Sanitizer } from "#lib/ingest/decode/parser";
import { code, longestInstant, notPlain, readInstant, TextCopier } from "#lib/ingest/decode/string-copier";
import { ingestMessage } from "#lib/ingest/schema";
import { parseJson } from "#lib/json";
import { limits } from "#lib/limits";

/** One trace as it was read: its own fields as JSON gave them, and what its messages add up to. */
export type ScannedTrace = {
  fields: unknown;
  messageCount: number;
  tokenCount: number;
  lastMessageAt: number | null;
  sanitized: boolean;
  /** Where the text of the messages begins and ends, where they stand in order of position; otherwise null. */
  text: { from: number; to: number } | null;
};

const [quote, backslash, colon, comma, zero, nine] = [
  code('"'),
  code("\\"),
  code(":"),
  code(","),
  code("0"),
  code("9"),
];
const [openBrace, closeBrace, openBracket, closeBracket] = [code("{"), code("}"), code("["), code("]")];
const space = 0x20;

const names = {
  content: Buffer.from("content"),
  position: Buffer.from("position"),
  role: Buffer.from("role"),
  tokenCount: Buffer.from("tokenCount"),
  createdAt: Buffer.from("createdAt"),
  traces: Buffer.from("traces"),
  messages: Buffer.from("messages"),
};

/** Levels that are open around a field of a trace, and around a message. */
const [aroundField, aroundMessage] = [3, 4];

/** Reads a batch from its decoded bytes, front to back. Each method throws `notPlain` where it meets something else. */
export class Scanner {
  readonly #bytes: Uint8Array;
  #at = 0;
  #values = 0;
  readonly #text = new TextCopier();

  constructor(bytes: Uint8Array) {
    if (!isUtf8(bytes)) throw notPlain;
    this.#bytes = bytes;
  }

  /** Goes through the whole batch: gives the place where each trace begins, and is to be taken past it by `trace`. */
  *batch(): Generator<number, void> {
    this.#enter(openBrace);
    if (!this.#keyIs(names.traces, this.#key())) throw notPlain;
    this.#enter(openBracket);
    if (!this.#leave(closeBracket)) {
      do {
        this.#space();
        yield this.#at;
      } while (this.#more(closeBracket));
    }
    if (this.#more(closeBrace)) throw notPlain;
    this.#space();
    if (this.#at !== this.#bytes.length) throw notPlain;
  }

  /** Reads the trace that begins at a place, its messages into `rows`, in order of position. */
  trace(at: number, rows: MessageRows): ScannedTrace {
    this.#at = at;
    this.#text.sanitized = false;
    rows.end = 0;
    let messages: { from: number; to: number; sums: MessageSums; text: { from: number; to: number } } | undefined;
    this.#enter(openBrace);
    if (this.#leave(closeBrace)) throw notPlain;
    do {
      const isMessages = this.#keyIs(names.messages, this.#key());
      this.#space();
      const from = this.#at;
      if (!isMessages) {
        this.#skip(aroundField);
        continue;
      }
      if (messages) throw notPlain;
      this.#enter(openBracket);
      const textFrom = this.#at;
      const sums = this.#messages(rows);
      messages = { from, to: this.#at, sums, text: { from: textFrom, to: sums.end } };
    } while (this.#more(closeBrace));
    if (!messages) throw notPlain;
    const { from, to, sums, text } = messages;
    if (!sums.inOrder && !rows.sort()) throw notPlain;
    const withoutMessages = [this.#bytes.subarray(at, from), emptyList, this.#bytes.subarray(to, this.#at)];
    return {
      fields: parsePlain(Buffer.concat(withoutMessages)),
      messageCount: sums.count,
      tokenCount: sums.tokens,
      lastMessageAt: sums.lastAt,
      sanitized: this.#text.sanitized,
      text: sums.inOrder ? text : null,
    };
  }

  /** Reads the messages behind those that end at a place, into `rows`. */
  messagesBehind(at: number, rows: MessageRows): void {
    this.#at = at;
    rows.end = 0;
    this.#space();
    if (this.#bytes[this.#at] === comma) this.#at += 1;
    this.#messages(rows);
  }

  #messages(rows: MessageRows): MessageSums {
    const sums: MessageSums = { count: 0, tokens: 0, lastAt: null, inOrder: true, lastPosition: -1, end: this.#at };
    if (this.#leave(closeBracket)) return sums;
    do {
      if (sums.count === limits.ingest.messagesPerTrace) throw notPlain;
      this.#space();
      const { position, tokenCount, createdAt } = this.#message(rows);
      sums.count += 1;
      sums.tokens += tokenCount ?? 0;
      if (createdAt !== null) sums.lastAt = Math.max(sums.lastAt ?? createdAt, createdAt);
      sums.inOrder &&= position > sums.lastPosition;
      sums.lastPosition = position;
      sums.end = this.#at;
    } while (this.#more(closeBracket));
    return sums;
  }

  /** Reads one message into a row: quickly where it has only plain fields, by way of JavaScript values where not. */
  #message(rows: MessageRows): MessageFields {
    const from = this.#at;
    const start = rows.end;
    const [values, sanitized] = [this.#values, this.#text.sanitized];
    const plain = this.#plainMessage(rows);
    if (plain) return plain;
    rows.end = start;
    [this.#at, this.#values, this.#text.sanitized] = [from, values, sanitized];
    this.#skip(aroundMessage);
    const parsed = ingestMessage.safeParse(parsePlain(this.#bytes.subarray(from, this.#at)));
    if (!parsed.success) throw notPlain;
    const sanitizer = new Sanitizer();
    const message = normalizeMessage(parsed.data, sanitizer);
    this.#text.sanitized ||= sanitizer.changed;
    rows.add(message);
    return message;
  }

  /** @returns undefined, with the place left anywhere, where the message has more than plain fields */
  #plainMessage(rows: MessageRows): MessageFields | undefined {
    const start = rows.end;
    rows.begin();
    let hasContent = false;
    let position = -1;
    let tokenCount: number | null = null;
    let createdAt: number | null = null;
    let role: Uint8Array | null = null;
    this.#enter(openBrace);
    do {
      const key = this.#key();
      this.#space();
      if (!hasContent && this.#keyIs(names.content, key)) {
        hasContent = true;
        this.#at = this.#text.copy(this.#bytes, this.#at, rows);
      } else if (position < 0 && this.#keyIs(names.position, key)) {
        position = this.#integer();
        if (position < 0) return undefined;
      } else if (role === null && this.#keyIs(names.role, key)) {
        role = this.#plainString(limits.message.role);
        if (role === null) return undefined;
      } else if (tokenCount === null && this.#keyIs(names.tokenCount, key)) {
        tokenCount = this.#integer();
        if (tokenCount < 0) return undefined;
      } else if (createdAt === null && this.#keyIs(names.createdAt, key)) {
        createdAt = readInstant(this.#plainString(longestInstant));
        if (createdAt === null) return undefined;
      } else {
        return undefined;
      }
    } while (this.#more(closeBrace));
    if (!hasContent || position < 0) return undefined;
    rows.finish(start, position, role, tokenCount, createdAt, null);
    return { position, tokenCount, createdAt };
  }

  /** A string without escapes, of at most `most` bytes; null for any other value. */
  #plainString(max: number): Uint8Array | null {
    const bytes = this.#bytes;
    if (bytes[this.#at] !== quote) return null;
    const from = this.#at + 1;
    for (let at = from; at <= from + max; at += 1) {
      const byte = bytes[at] as number;
      if (byte === quote) {
        this.#at = at + 1;
        return bytes.subarray(from, at);
      }
      if (!(byte >= space) || byte === backslash) return null;
    }
    return null;
  }

  /** An integer from 0 to 2147483647 that is written with digits alone; -1 for any other value. */
  #integer(): number {
    const bytes = this.#bytes;
    const from = this.#at;
    let at = from;
    let value = 0;
    while (at < from + 11) {
      const byte = bytes[at] as number;
      if (!(byte >= zero && byte <= nine)) break;
      value = value * 10 + byte - zero;
      at += 1;
    }
    const digits = at - from;
    if (digits === 0 || (digits > 1 && bytes[from] === zero) || value > limits.message.integer) return -1;
    this.#at = at;
    return value;
  }

  /** A key without escapes, and its colon. @returns where it begins; the place is behind the colon */
  #key(): number {
    const bytes = this.#bytes;
    this.#space();
    if (bytes[this.#at] !== quote) throw notPlain;
    const from = this.#at + 1;
    let at = from;
    for (; bytes[at] !== quote; at += 1) {
      const byte = bytes[at] as number;
      if (!(byte >= space) || byte === backslash) throw notPlain;
    }
    this.#at = at + 1;
    this.#space();
    if (bytes[this.#at] !== colon) throw notPlain;
    this.#at += 1;
    return from;
  }

  #keyIs(name: Uint8Array, from: number): boolean {
    for (let index = 0; index < name.length; index += 1) if (this.#bytes[from + index] !== name[index]) return false;
    return this.#bytes[from + name.length] === quote;
  }

  /** Goes past a value, whatever it is. That it is right JSON is for JSON.parse to find out. */
  #skip(depthAround: number): void {
    const bytes = this.#bytes;
    let depth = 0;
    let at = this.#at;
    do {
      const byte = bytes[at];
      if (byte === undefined) throw notPlain;
      if (byte === quote) {
        at = endOfString(bytes, at + 1);
        if (at === -1) throw notPlain;
      } else if (byte === openBrace || byte === openBracket) {
        depth += 1;
        this.#values += 1;
        if (depthAround + depth > limits.nesting) throw notPlain;
      } else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (depth < 0) break;
      } else if (byte === comma) {
        if (depth === 0) break;
        this.#values += 1;
      }
      at += 1;
      // A value at the surface ends with its last bracket or quote, or before the comma or bracket behind it.
    } while (depth > 0 || !endsValue(bytes[at]));
    if (at === this.#at || this.#values > limits.values) throw notPlain;
    this.#at = at;
  }

  #space(): void {
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte !== space && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at += 1;
    }
  }

  #enter(bracket: number): void {
    this.#space();
    if (this.#bytes[this.#at] !== bracket) throw notPlain;
    this.#at += 1;
    this.#count();
  }

  /** Goes past a closing bracket, if that is what comes. */
  #leave(bracket: number): boolean {
    this.#space();
    if (this.#bytes[this.#at] !== bracket) return false;
    this.#at += 1;
    return true;
  }

  /** Goes past a comma (true) or the closing bracket (false). */
  #more(bracket: number): boolean {
    if (this.#leave(bracket)) return false;
    if (this.#bytes[this.#at] !== comma) throw notPlain;
    this.#at += 1;
    this.#count();
    return true;
  }

  #count(): void {
    this.#values += 1;
    if (this.#values > limits.values) throw notPlain;
  }
}

type MessageFields = Pick<BatchMessage, "position" | "tokenCount" | "createdAt">;
type MessageSums = {
  count: number;
  tokens: number;
  lastAt: number | null;
  inOrder: boolean;
  lastPosition: number;
  end: number;
};

const emptyList = Buffer.from("[]");
const endsValue = (byte: number | undefined) =>
  byte === undefined || byte === comma || byte === closeBrace || byte === closeBracket;

function parsePlain(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch {
    throw notPlain;
  }
}

/** Where the string that began before `at` ends: its closing quote, or -1. */
function endOfString(bytes: Uint8Array, at: number): number {
  for (let end = at; end < bytes.length; end += 1) {
    const byte = bytes[end];
    if (byte === quote) return end;
    if (byte === backslash) end += 1;
  }
  return -1;
}
