// Runs in the decoding thread: the quick reading of a batch. Most batches are plain (the documented fields, in UTF-8, with
// ordinary escapes), and go from the bytes of the request to the bytes of COPY without a JavaScript value in between:
// docs/decisions/0009. All others are left to the careful reading (parser.ts).
import { isUtf8 } from "node:buffer";
import { JsonCursor, notPlain } from "#lib/ingest/decode/json-cursor";
import type { MessageRows } from "#lib/ingest/decode/message-rows";
import { type BatchMessage, normalizeMessage, Sanitizer } from "#lib/ingest/decode/parser";
import { maxInstantBytes, readInstant } from "#lib/ingest/decode/quick-instant";
import { TextCopier } from "#lib/ingest/decode/string-copier";
import { ingestMessage } from "#lib/ingest/schema";
import { countParsed, countValues, parseJson } from "#lib/json";
import { limits } from "#lib/limits";

/** Bytes of a body: from an offset, up to but without another one. */
export type Place = { from: number; to: number };

/** A scanned trace: its own fields as parsed JSON, and the sums of its messages. */
export type ScannedTrace = {
  fields: unknown;
  messageCount: number;
  tokenCount: number;
  lastMessageAt: number | null;
  sanitized: boolean;
  /** As a `Sanitizer` counts them, of the messages. */
  excessDigits: number;
  /** The offsets of the messages' text, if they are in order of position; otherwise null. */
  text: Place | null;
  /** The offset after the trace. */
  end: number;
};

const [comma, openBrace, closeBrace, openBracket, closeBracket] = [0x2c, 0x7b, 0x7d, 0x5b, 0x5d];

const names = {
  content: Buffer.from("content"),
  position: Buffer.from("position"),
  role: Buffer.from("role"),
  tokenCount: Buffer.from("tokenCount"),
  createdAt: Buffer.from("createdAt"),
  traces: Buffer.from("traces"),
  messages: Buffer.from("messages"),
};

/** The number of JSON levels around a field of a trace, and around a message. */
const [aroundField, aroundMessage] = [3, 4];

/** Reads a batch from its decoded bytes, front to back. The methods throw `notPlain` for what is not plain. */
export class Scanner extends JsonCursor {
  readonly #text = new TextCopier();
  #excessDigits = 0;

  constructor(bytes: Uint8Array) {
    super(bytes);
    if (!isUtf8(bytes)) throw notPlain;
  }

  /** Walks through the batch: yields the offset of each trace, which the caller then reads with `trace`. */
  *batch(): Generator<number, void> {
    this.enter(openBrace);
    if (!this.keyIs(names.traces, this.readKey())) throw notPlain;
    this.enter(openBracket);
    if (!this.leave(closeBracket)) {
      do {
        this.skipSpace();
        yield this.at;
      } while (this.more(closeBracket));
    }
    if (this.more(closeBrace)) throw notPlain;
    this.skipSpace();
    if (this.at !== this.bytes.length) throw notPlain;
  }

  /** Reads the trace at an offset, with its messages into `rows` in order of position. */
  trace(at: number, rows: MessageRows): ScannedTrace {
    this.at = at;
    this.#text.sanitized = false;
    this.#excessDigits = 0;
    rows.end = 0;
    let messages: (Place & { sums: MessageSums; text: Place }) | undefined;
    this.enter(openBrace);
    if (this.leave(closeBrace)) throw notPlain;
    do {
      const isMessages = this.keyIs(names.messages, this.readKey());
      this.skipSpace();
      const from = this.at;
      if (!isMessages) {
        this.skipValue(aroundField);
        continue;
      }
      if (messages) throw notPlain;
      this.enter(openBracket);
      const textFrom = this.at;
      const sums = this.#readMessages(rows);
      messages = { from, to: this.at, sums, text: { from: textFrom, to: sums.end } };
    } while (this.more(closeBrace));
    if (!messages) throw notPlain;
    const { from, to, sums, text } = messages;
    if (!sums.inOrder && !rows.sort()) throw notPlain;
    const withoutMessages = [this.bytes.subarray(at, from), emptyList, this.bytes.subarray(to, this.at)];
    return {
      fields: parsePlain(Buffer.concat(withoutMessages)),
      messageCount: sums.count,
      tokenCount: sums.tokens,
      lastMessageAt: sums.lastAt,
      sanitized: this.#text.sanitized,
      excessDigits: this.#excessDigits,
      text: sums.inOrder ? text : null,
      end: this.at,
    };
  }

  /** Reads the messages after those that end at an offset, into `rows`. */
  messagesBehind(at: number, rows: MessageRows): void {
    this.at = at;
    rows.end = 0;
    this.skipSpace();
    if (this.bytes[this.at] === comma) this.at += 1;
    this.#readMessages(rows);
  }

  #readMessages(rows: MessageRows): MessageSums {
    const sums: MessageSums = { count: 0, tokens: 0, lastAt: null, inOrder: true, lastPosition: -1, end: this.at };
    if (this.leave(closeBracket)) return sums;
    do {
      if (sums.count === limits.ingest.messagesPerTrace) throw notPlain;
      this.skipSpace();
      const { position, tokenCount, createdAt } = this.#readMessage(rows);
      sums.count += 1;
      sums.tokens += tokenCount ?? 0;
      if (createdAt !== null) sums.lastAt = Math.max(sums.lastAt ?? createdAt, createdAt);
      sums.inOrder &&= position > sums.lastPosition;
      sums.lastPosition = position;
      sums.end = this.at;
    } while (this.more(closeBracket));
    return sums;
  }

  /** Reads a message into a row: directly if it has only plain fields, otherwise through JSON.parse and zod. */
  #readMessage(rows: MessageRows): MessageFields {
    const from = this.at;
    const start = rows.end;
    const [values, sanitized] = [this.values, this.#text.sanitized];
    const plain = this.#readPlainMessage(rows);
    if (plain) return plain;
    rows.end = start;
    [this.at, this.values, this.#text.sanitized] = [from, values, sanitized];
    this.skipValue(aroundMessage);
    const parsed = ingestMessage.safeParse(parsePlain(this.bytes.subarray(from, this.at), this.values - values));
    if (!parsed.success) throw notPlain;
    const sanitizer = new Sanitizer();
    const message = normalizeMessage(parsed.data, sanitizer);
    this.#text.sanitized ||= sanitizer.changed;
    this.#excessDigits += sanitizer.excessDigits;
    rows.add(message);
    return message;
  }

  /** @returns undefined if the message has other than plain fields; the cursor is then anywhere in it */
  #readPlainMessage(rows: MessageRows): MessageFields | undefined {
    const start = rows.end;
    rows.begin();
    let hasContent = false;
    let position = -1;
    let tokenCount: number | null = null;
    let createdAt: number | null = null;
    let role: Uint8Array | null = null;
    this.enter(openBrace);
    do {
      const key = this.readKey();
      this.skipSpace();
      if (!hasContent && this.keyIs(names.content, key)) {
        hasContent = true;
        this.at = this.#text.copy(this.bytes, this.at, rows);
      } else if (position < 0 && this.keyIs(names.position, key)) {
        position = this.readInteger();
        if (position < 0) return undefined;
      } else if (role === null && this.keyIs(names.role, key)) {
        role = this.readPlainString(limits.message.role);
        if (role === null) return undefined;
      } else if (tokenCount === null && this.keyIs(names.tokenCount, key)) {
        tokenCount = this.readInteger();
        if (tokenCount < 0) return undefined;
      } else if (createdAt === null && this.keyIs(names.createdAt, key)) {
        createdAt = readInstant(this.readPlainString(maxInstantBytes));
        if (createdAt === null) return undefined;
      } else {
        return undefined;
      }
    } while (this.more(closeBrace));
    if (!hasContent || position < 0) return undefined;
    rows.finish(start, position, role, tokenCount, createdAt, null);
    return { position, tokenCount, createdAt };
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

/** Parses JSON in which no field stands twice, nor one that is dropped: nobody would look at what that has. */
function parsePlain(bytes: Uint8Array, values = countValues(bytes)): unknown {
  const parsed = tryParse(bytes);
  if (countParsed(parsed) !== values) throw notPlain;
  return parsed;
}

function tryParse(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch {
    throw notPlain;
  }
}
