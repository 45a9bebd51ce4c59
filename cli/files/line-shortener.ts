import { formatNumber } from "../terminal/format.ts";

const [quote, backslash, letterU] = [0x22, 0x5c, 0x75];
const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;
const noteBytes = 256;

/** A note replaces the end of each long text, so that the line stays valid JSON. */
export class LineShortener {
  readonly #maxTextBytes: number;
  readonly #output: Buffer;
  #end = 0;
  #inText = false;
  /** Bytes of an escape that are still to come; five after the backslash of `\uXXXX`. */
  #escape = 0;
  #isEscapeStart = false;
  #textBytes = 0;
  #missing = 0;
  isFull = false;

  constructor(maxBytes: number, maxTextBytes: number) {
    this.#output = Buffer.allocUnsafeSlow(maxBytes);
    this.#maxTextBytes = maxTextBytes;
  }

  add(part: Buffer): void {
    for (const byte of part) {
      if (this.isFull) return;
      if (this.#inText) this.#addToText(byte);
      else {
        this.#write(byte);
        if (byte === quote) this.#beginText();
      }
    }
  }

  #beginText(): void {
    this.#inText = true;
    this.#textBytes = 0;
    this.#missing = 0;
  }

  #addToText(byte: number): void {
    const isInside = this.#escape > 0;
    if (!isInside && byte === quote) {
      this.#endText();
      return;
    }
    const isLeftOut =
      this.#missing > 0 || (this.#textBytes >= this.#maxTextBytes && !isInside && !isContinuation(byte));
    if (isLeftOut) this.#missing += isInside ? 0 : 1;
    else {
      this.#write(byte);
      this.#textBytes++;
    }
    if (this.#isEscapeStart) this.#escape = byte === letterU ? 4 : 0;
    else if (isInside) this.#escape--;
    else if (byte === backslash) this.#escape = 1;
    this.#isEscapeStart = !isInside && byte === backslash;
  }

  #endText(): void {
    if (this.#missing > 0) {
      const note = JSON.stringify(missingNote(this.#missing, "bytes")).slice(1, -1);
      this.#end += this.#output.write(note, this.#end);
    }
    this.#inText = false;
    this.#write(quote);
  }

  #write(byte: number): void {
    this.#output[this.#end++] = byte;
    if (this.#end >= this.#output.length - noteBytes) this.isFull = true;
  }

  line(): Buffer {
    return this.#output.subarray(0, this.#end);
  }
}

export const missingNote = (missing: number, unit: "characters" | "bytes"): string =>
  `\n[Spoor: ${formatNumber(missing)} ${unit} are missing here: it is too long.]`;
