// Runs in the decoding thread: copies JSON strings from a body to rows.
import { notPlain } from "#lib/ingest/decode/json-cursor";
import type { MessageRows } from "#lib/ingest/decode/message-rows";

const code = (character: string) => character.charCodeAt(0);
const [quote, backslash, letterU, zero, nine] = [code('"'), code("\\"), code("u"), code("0"), code("9")];
const space = 0x20;

/** The character of a one-letter escape (RFC 8259, section 7); 0 for letters that are no escape. */
const escapes = new Uint8Array(256);
const meanings = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
for (const [letter, meaning] of Object.entries(meanings)) escapes[code(letter)] = code(meaning);

/** 1 for bytes that are not copied as they are: quotes, backslashes, and control characters. */
const special = new Uint8Array(256).fill(1, 0, space);
special[quote] = 1;
special[backslash] = 1;

/** Content is copied in blocks, each after space for it was reserved in the rows. */
const blockBytes = 16 * 1024;
/** More than one step of the copying can overrun a block. */
const longestEscape = 16;

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

/** Copies strings from JSON to rows, and records whether any character had to be replaced. */
export class TextCopier {
  sanitized = false;

  /** Appends the string whose quote is at `from` to `rows`, unescaped. @returns the offset after it */
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

  /** Writes the character of the escape `\uXXXX` at `at`, or U+FFFD for one that PostgreSQL cannot store. */
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
 * Copies bytes up to `stop`, or up to what is neither an ordinary character nor a one-letter escape. It copies four bytes at
 * a time, of which those after an escape are overwritten: one at a time takes three times as long.
 *
 * @returns the offset where it stopped
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

/** Sets the highest bit of the lowest special byte of four; higher bytes may be marked falsely. */
function specialOf(four: number): number {
  const quotes = four ^ 0x22222222;
  const backslashes = four ^ 0x5c5c5c5c;
  return (
    (((four - 0x20202020) & ~four) | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes)) &
    0x80808080
  );
}

/** The value of the escape `\uXXXX` at `at`. */
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
