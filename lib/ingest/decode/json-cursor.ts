// Runs in the decoding thread: a place in JSON bytes, and the steps past its parts.
import { endOfString } from "#lib/json";
import { limits } from "#lib/limits";

/**
 * Thrown at the first thing that the quick reading does not take. It does not mean that the batch is invalid: that is for the
 * careful reading to decide.
 */
export const notPlain = new Error("the batch is not plain");

// Not exported: V8 folds the constants of a module's own scope, but loads an exported one at each use (8 % of the reading).
const [quote, backslash, comma, colon, zero, nine] = [0x22, 0x5c, 0x2c, 0x3a, 0x30, 0x39];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const space = 0x20;

/** Whether a byte may follow a value directly; undefined means the end. */
const endsValue = (byte: number | undefined) =>
  byte === undefined || byte === comma || byte === closeBrace || byte === closeBracket;

/** A place in JSON bytes that only moves forward. The methods throw `notPlain` at anything else. */
export class JsonCursor {
  protected readonly bytes: Uint8Array;
  protected at = 0;
  /** How many values were begun: objects, arrays, and all members but the first of each. */
  protected values = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  protected skipSpace(): void {
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte !== space && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.at += 1;
    }
  }

  /** Moves past an opening bracket. */
  protected enter(bracket: number): void {
    this.skipSpace();
    if (this.bytes[this.at] !== bracket) throw notPlain;
    this.at += 1;
    this.countValue();
  }

  /** Moves past a closing bracket, if that is next. */
  protected leave(bracket: number): boolean {
    this.skipSpace();
    if (this.bytes[this.at] !== bracket) return false;
    this.at += 1;
    return true;
  }

  /** Moves past a comma (true) or the closing bracket (false). */
  protected more(bracket: number): boolean {
    if (this.leave(bracket)) return false;
    if (this.bytes[this.at] !== comma) throw notPlain;
    this.at += 1;
    this.countValue();
    return true;
  }

  private countValue(): void {
    this.values += 1;
    if (this.values > limits.maxValues) throw notPlain;
  }

  /** Moves past a key without escapes, and its colon. @returns the offset of the key's first character */
  protected readKey(): number {
    const bytes = this.bytes;
    this.skipSpace();
    if (bytes[this.at] !== quote) throw notPlain;
    const from = this.at + 1;
    let at = from;
    for (; bytes[at] !== quote; at += 1) {
      const byte = bytes[at] as number;
      if (!(byte >= space) || byte === backslash) throw notPlain;
    }
    this.at = at + 1;
    this.skipSpace();
    if (bytes[this.at] !== colon) throw notPlain;
    this.at += 1;
    return from;
  }

  protected keyIs(name: Uint8Array, from: number): boolean {
    for (let index = 0; index < name.length; index += 1) if (this.bytes[from + index] !== name[index]) return false;
    return this.bytes[from + name.length] === quote;
  }

  /** Reads a string without escapes, of at most `max` bytes; null, without moving, for any other value. */
  protected readPlainString(max: number): Uint8Array | null {
    const bytes = this.bytes;
    if (bytes[this.at] !== quote) return null;
    const from = this.at + 1;
    for (let at = from; at <= from + max; at += 1) {
      const byte = bytes[at] as number;
      if (byte === quote) {
        this.at = at + 1;
        return bytes.subarray(from, at);
      }
      if (!(byte >= space) || byte === backslash) return null;
    }
    return null;
  }

  /** Reads an integer from 0 to 2147483647 written with digits alone; -1, without moving, for any other value. */
  protected readInteger(): number {
    const bytes = this.bytes;
    const from = this.at;
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
    this.at = at;
    return value;
  }

  /** Moves past any value. That it is valid JSON is checked by JSON.parse. @param depthAround levels open around it */
  protected skipValue(depthAround: number): void {
    const bytes = this.bytes;
    let depth = 0;
    let at = this.at;
    do {
      const byte = bytes[at];
      if (byte === undefined) throw notPlain;
      if (byte === quote) {
        at = endOfString(bytes, at + 1);
        if (at === -1) throw notPlain;
      } else if (byte === openBrace || byte === openBracket) {
        depth += 1;
        this.values += 1;
        if (depthAround + depth > limits.maxNesting) throw notPlain;
      } else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (depth < 0) break;
      } else if (byte === comma) {
        if (depth === 0) break;
        this.values += 1;
      }
      at += 1;
      // At depth 0 a value ends after its last bracket or quote, or before the comma or bracket that follows it.
    } while (depth > 0 || !endsValue(bytes[at]));
    if (at === this.at || this.values > limits.maxValues) throw notPlain;
    this.at = at;
  }
}
