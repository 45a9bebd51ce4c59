// Runs in the decoding thread: the quick reading of a batch. Most batches are plain (the fields of the interface, in
// UTF-8, with ordinary escapes), and those go from the bytes of the request to the bytes of COPY without a JavaScript
// value in between: docs/decisions/0009. Whatever is not plain is for the careful reader in batch.ts to judge.
import { isUtf8 } from "node:buffer";
import { type BatchMessage, normalizeMessage, Sanitizer } from "#lib/ingest/batch";
import type { Rows } from "#lib/ingest/rows";
import { ingestMessage } from "#lib/ingest/schema";
import { parseJson } from "#lib/json";
import { limits } from "#lib/limits";

/** What is thrown at the first thing that is not plain; it says nothing of whether that is right or wrong. */
export const notPlain = new Error("the batch is not plain");

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

const code = (character: string) => character.charCodeAt(0);
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

/** What a one-letter escape stands for (RFC 8259, section 7); 0 for a letter that stands for nothing. */
const escapes = new Uint8Array(256);
for (const [letter, meaning] of Object.entries({
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
})) {
  escapes[code(letter)] = code(meaning);
}

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
  #sanitized = false;

  constructor(bytes: Uint8Array) {
    if (!isUtf8(bytes)) throw notPlain;
    this.#bytes = bytes;
  }

  /**
   * Reads the whole batch.
   *
   * @param readTrace is called with the place where each trace begins, and goes past it by calling `trace`.
   */
  batch(readTrace: (at: number) => void): void {
    this.#enter(openBrace);
    if (!this.#keyIs(names.traces, this.#key())) throw notPlain;
    this.#enter(openBracket);
    if (!this.#leave(closeBracket)) {
      do {
        this.#space();
        readTrace(this.#at);
      } while (this.#more(closeBracket));
    }
    if (this.#more(closeBrace)) throw notPlain;
    this.#space();
    if (this.#at !== this.#bytes.length) throw notPlain;
  }

  /** Reads the trace that begins at a place, its messages into `rows`, in order of position. */
  trace(at: number, rows: Rows): ScannedTrace {
    this.#at = at;
    this.#sanitized = false;
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
      sanitized: this.#sanitized,
      text: sums.inOrder ? text : null,
    };
  }

  /** Reads the messages behind those that end at a place, into `rows`. */
  messagesBehind(at: number, rows: Rows): void {
    this.#at = at;
    rows.end = 0;
    this.#space();
    if (this.#bytes[this.#at] === comma) this.#at += 1;
    this.#messages(rows);
  }

  #messages(rows: Rows): MessageSums {
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
  #message(rows: Rows): MessageFields {
    const from = this.#at;
    const start = rows.end;
    const [values, sanitized] = [this.#values, this.#sanitized];
    const plain = this.#plainMessage(rows);
    if (plain) return plain;
    rows.end = start;
    [this.#at, this.#values, this.#sanitized] = [from, values, sanitized];
    this.#skip(aroundMessage);
    const parsed = ingestMessage.safeParse(parsePlain(this.#bytes.subarray(from, this.#at)));
    if (!parsed.success) throw notPlain;
    const sanitizer = new Sanitizer();
    const message = normalizeMessage(parsed.data, sanitizer);
    this.#sanitized ||= sanitizer.changed;
    rows.add(message);
    return message;
  }

  /** @returns undefined, with the place left anywhere, where the message has more than plain fields */
  #plainMessage(rows: Rows): MessageFields | undefined {
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
        this.#content(rows);
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

  /** Copies a string to the end of `rows`, its escapes resolved. */
  #content(rows: Rows): void {
    const bytes = this.#bytes;
    let at = this.#at;
    if (bytes[at] !== quote) throw notPlain;
    at += 1;
    for (;;) {
      rows.reserve(blockBytes);
      const to = rows.bytes;
      let end = rows.end;
      const stop = Math.min(bytes.length, at + blockBytes - longestEscape);
      let byte = 0;
      while (at < stop) {
        byte = bytes[at] as number;
        if (byte === backslash) {
          const meaning = escapes[bytes[at + 1] as number] as number;
          if (meaning === 0) break;
          to[end] = meaning;
          at += 2;
        } else if (byte >= space && byte !== quote) {
          to[end] = byte;
          at += 1;
        } else {
          break;
        }
        end += 1;
      }
      rows.end = end;
      if (at >= stop) {
        if (at >= bytes.length) throw notPlain;
        continue;
      }
      if (byte === quote) break;
      if (byte < space) throw notPlain;
      at = this.#unicodeEscape(at, rows);
    }
    this.#at = at + 1;
  }

  /** Writes what the escape `\uXXXX` at a place stands for, or U+FFFD where PostgreSQL can't hold that. */
  #unicodeEscape(at: number, rows: Rows): number {
    let unit = this.#hex(at);
    let length = 6;
    if (isHighSurrogate(unit) && this.#bytes[at + 6] === backslash && this.#bytes[at + 7] === letterU) {
      const low = this.#hex(at + 6);
      if (isLowSurrogate(low)) {
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        length = 12;
      }
    }
    if (unit === 0 || isHighSurrogate(unit) || isLowSurrogate(unit)) {
      this.#sanitized = true;
      unit = 0xfffd;
    }
    rows.reserve(4);
    rows.end += rows.bytes.write(String.fromCodePoint(unit), rows.end, "utf8");
    return at + length;
  }

  /** The four hexadecimal digits of the escape at a place. */
  #hex(at: number): number {
    if (this.#bytes[at + 1] !== letterU || at + 6 > this.#bytes.length) throw notPlain;
    let value = 0;
    for (let digit = at + 2; digit < at + 6; digit += 1) {
      const byte = this.#bytes[digit] as number;
      const lower = byte | 0x20;
      if (byte >= zero && byte <= nine) value = value * 16 + byte - zero;
      else if (lower >= 0x61 && lower <= 0x66) value = value * 16 + lower - 0x57;
      else throw notPlain;
    }
    return value;
  }

  /** A string without escapes, of at most `most` bytes; null for any other value. */
  #plainString(most: number): Uint8Array | null {
    const bytes = this.#bytes;
    if (bytes[this.#at] !== quote) return null;
    const from = this.#at + 1;
    for (let at = from; at <= from + most; at += 1) {
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
const letterU = code("u");
/** Content is copied in blocks: room in the rows is made for one at a time. */
const blockBytes = 16 * 1024;
/** What one turn of the copying loop may go past a block's end, and more. */
const longestEscape = 16;

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
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

const longestInstant = 30;
const daysInMonth = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The milliseconds since 1970 of a moment like `2026-11-20T08:00:00.123Z`; null for every other form. */
function readInstant(text: Uint8Array | null): number | null {
  if (text === null || text.length < 20 || text[text.length - 1] !== letterZ) return null;
  const digits = (from: number, to: number) => {
    let value = 0;
    for (let at = from; at < to; at += 1) {
      const byte = text[at] as number;
      if (byte < zero || byte > nine) return Number.NaN;
      value = value * 10 + byte - zero;
    }
    return value;
  };
  if (text[4] !== dash || text[7] !== dash || text[10] !== letterT || text[13] !== colon || text[16] !== colon)
    return null;
  const [year, month, day] = [digits(0, 4), digits(5, 7), digits(8, 10)];
  const [hour, minute, second] = [digits(11, 13), digits(14, 16), digits(17, 19)];
  const date = year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= (daysInMonth[month] as number);
  if (!date || !(hour <= 23 && minute <= 59 && second <= 59)) return null;
  let millisecond = 0;
  if (text.length > 20) {
    const fraction = text.length - 21;
    if (text[19] !== dot || fraction < 1 || Number.isNaN(digits(20, 20 + fraction))) return null;
    const known = Math.min(3, fraction);
    millisecond = digits(20, 20 + known) * 10 ** (3 - known);
  }
  return Date.UTC(year, month - 1, day, hour, minute, second, millisecond);
}

const [dash, dot, letterT, letterZ] = [code("-"), code("."), code("T"), code("Z")];
