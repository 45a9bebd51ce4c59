// Runs in the decoding thread: the values that the quick reading of a batch takes (scan.ts).
import type { MessageRows } from "#lib/ingest/decode/message-rows";

/** What is thrown at the first thing that is not plain; it says nothing of whether that is right or wrong. */
export const notPlain = new Error("the batch is not plain");

export const code = (character: string) => character.charCodeAt(0);

const [quote, backslash, colon, zero, nine] = [code('"'), code("\\"), code(":"), code("0"), code("9")];
const [letterT, letterU, letterZ, dash, dot] = [code("T"), code("u"), code("Z"), code("-"), code(".")];
const space = 0x20;

/** What a one-letter escape stands for (RFC 8259, section 7); 0 for a letter that stands for nothing. */
const escapes = new Uint8Array(256);
const meanings = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
for (const [letter, meaning] of Object.entries(meanings)) escapes[code(letter)] = code(meaning);

/** 1 for the bytes that are not copied as they are: the end of a string, an escape, and what may not be in one. */
const special = new Uint8Array(256).fill(1, 0, space);
special[quote] = 1;
special[backslash] = 1;

/** Content is copied in blocks: room in the rows is made for one at a time. */
const blockBytes = 16 * 1024;
/** What one turn of the copying may go past a block's end, and more. */
const longestEscape = 16;

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

/** Copies strings from JSON to rows, and remembers whether anything in them had to be replaced. */
export class TextCopier {
  sanitized = false;

  /** Copies the string that begins at a place to the end of `rows`, its escapes resolved. @returns where it ends */
  copy(bytes: Uint8Array, from: number, rows: MessageRows): number {
    if (bytes[from] !== quote) throw notPlain;
    let at = from + 1;
    for (;;) {
      rows.reserve(blockBytes);
      at = copyBlock(bytes, at, Math.min(bytes.length, at + blockBytes - longestEscape), rows);
      const byte = bytes[at];
      if (byte === quote) return at + 1;
      if (byte === backslash && !escapes[bytes[at + 1] as number]) at = this.#unicode(bytes, at, rows);
      else if (byte === undefined || byte < space) throw notPlain;
    }
  }

  /** Writes what the escape `\uXXXX` at a place stands for, or U+FFFD where PostgreSQL can't hold that. */
  #unicode(bytes: Uint8Array, at: number, rows: MessageRows): number {
    let unit = readHex(bytes, at);
    let length = 6;
    if (isHighSurrogate(unit) && bytes[at + 6] === backslash && bytes[at + 7] === letterU) {
      const low = readHex(bytes, at + 6);
      if (isLowSurrogate(low)) {
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        length = 12;
      }
    }
    if (unit === 0 || isHighSurrogate(unit) || isLowSurrogate(unit)) {
      this.sanitized = true;
      unit = 0xfffd;
    }
    rows.reserve(4);
    rows.end += rows.bytes.write(String.fromCodePoint(unit), rows.end, "utf8");
    return at + length;
  }
}

/**
 * Copies bytes up to a place, or up to what is neither an ordinary character nor a one-letter escape. Four at a time, of
 * which those behind an escape are written over: one at a time takes three times as long.
 *
 * @returns where it stopped
 */
function copyBlock(bytes: Uint8Array, from: number, stop: number, rows: MessageRows): number {
  const to = rows.bytes;
  const source = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const target = new DataView(to.buffer, to.byteOffset, to.byteLength);
  let end = rows.end;
  let at = from;
  for (;;) {
    while (at + 4 <= stop) {
      const four = source.getInt32(at, true);
      target.setInt32(end, four, true);
      const found = specialOf(four);
      if (found !== 0) {
        const ordinary = (31 - Math.clz32(found & -found)) >> 3;
        at += ordinary;
        end += ordinary;
        break;
      }
      at += 4;
      end += 4;
    }
    while (at < stop && special[bytes[at] as number] === 0) to[end++] = bytes[at++] as number;
    if (at >= stop || bytes[at] !== backslash) break;
    const meaning = escapes[bytes[at + 1] as number];
    if (!meaning) break;
    to[end++] = meaning;
    at += 2;
  }
  rows.end = end;
  return at;
}

/** Marks the lowest of four bytes that is special by its highest bit; a higher one may be marked for nothing. */
function specialOf(four: number): number {
  const quotes = four ^ 0x22222222;
  const backslashes = four ^ 0x5c5c5c5c;
  return (
    (((four - 0x20202020) & ~four) | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes)) &
    0x80808080
  );
}

/** The four hexadecimal digits of the escape at a place. */
function readHex(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== letterU || at + 6 > bytes.length) throw notPlain;
  let value = 0;
  for (let digit = at + 2; digit < at + 6; digit += 1) {
    const byte = bytes[digit] as number;
    const lower = byte | 0x20;
    if (byte >= zero && byte <= nine) value = value * 16 + byte - zero;
    else if (lower >= 0x61 && lower <= 0x66) value = value * 16 + lower - 0x57;
    else throw notPlain;
  }
  return value;
}

/** The longest form of a moment that `readInstant` takes, in bytes. */
export const longestInstant = 30;
const daysInMonth = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The milliseconds since 1970 of a moment like `2026-11-20T08:00:00.123Z`; null for every other form. */
export function readInstant(text: Uint8Array | null): number | null {
  if (text === null || text.length < 20 || text[text.length - 1] !== letterZ) return null;
  if (text[4] !== dash || text[7] !== dash || text[10] !== letterT) return null;
  if (text[13] !== colon || text[16] !== colon) return null;
  const [year, month, day] = [readDigits(text, 0, 4), readDigits(text, 5, 7), readDigits(text, 8, 10)];
  const [hour, minute, second] = [readDigits(text, 11, 13), readDigits(text, 14, 16), readDigits(text, 17, 19)];
  const isDate = year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= (daysInMonth[month] as number);
  if (!isDate || !(hour <= 23 && minute <= 59 && second <= 59)) return null;
  let millisecond = 0;
  if (text.length > 20) {
    const decimals = text.length - 21;
    if (text[19] !== dot || decimals < 1 || Number.isNaN(readDigits(text, 20, 20 + decimals))) return null;
    const known = Math.min(3, decimals);
    millisecond = readDigits(text, 20, 20 + known) * 10 ** (3 - known);
  }
  return Date.UTC(year, month - 1, day, hour, minute, second, millisecond);
}

/** The number that some digits are, or NaN where they are not digits alone. */
function readDigits(text: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const byte = text[at] as number;
    if (byte < zero || byte > nine) return Number.NaN;
    value = value * 10 + byte - zero;
  }
  return value;
}
