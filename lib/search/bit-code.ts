// Numbers as bits: plainly, by Rice's code (a quotient in unary, as zeros before a one, and some low bits), by Elias' gamma code (as
// many zeros as the number has bits after its first one, and the number). They are written and read from a byte's highest bit on.

/** So many bits go into a 32-bit number beside seven that are left of a byte. */
const maxAtOnce = 24;

/** A growing buffer of bits. */
export class BitWriter {
  private bytes = Buffer.allocUnsafeSlow(4096);
  private end = 0;
  /** The last bits, which are not yet a byte, and how many these are. */
  private rest = 0;
  private filled = 0;

  /** Writes the low bits of a number. */
  write(number: number, bits: number): void {
    const lowBits = Math.min(bits, maxAtOnce);
    const high = Math.floor(number / 2 ** lowBits);
    if (bits > lowBits) this.write(high, bits - lowBits);
    this.append(number - high * 2 ** lowBits, lowBits);
  }

  /** Writes by Rice's code with so many low bits. */
  writeRice(number: number, lowBits: number): void {
    const quotient = Math.floor(number / 2 ** lowBits);
    let zeros = quotient;
    for (; zeros >= maxAtOnce; zeros -= maxAtOnce) this.append(0, maxAtOnce);
    this.append(1, zeros + 1);
    this.write(number - quotient * 2 ** lowBits, lowBits);
  }

  /** Writes a number above 0 and below 2^16 by Elias' gamma code. */
  writeGamma(number: number): void {
    const bits = 32 - Math.clz32(number);
    this.append(0, bits - 1);
    this.append(number, bits);
  }

  /** Returns what was written since the last call; a byte that is not full ends with zeros. */
  take(): Buffer {
    if (this.filled > 0) this.append(0, 8 - this.filled);
    const taken = Buffer.from(this.bytes.subarray(0, this.end));
    this.end = 0;
    return taken;
  }

  private append(number: number, bits: number): void {
    if (this.end + 4 > this.bytes.length) this.bytes = Buffer.concat([this.bytes], this.bytes.length * 2);
    let [rest, filled] = [(this.rest << bits) | number, this.filled + bits];
    for (; filled >= 8; filled -= 8) this.bytes[this.end++] = rest >>> (filled - 8);
    rest &= (1 << filled) - 1;
    this.rest = rest;
    this.filled = filled;
  }
}

/** Bytes as bits are read of them. `last` is where the last five bytes begin: to ask the view for its length each time takes as long again. */
export type Bits = { view: DataView; last: number };

export const bitsOf = ({ buffer, byteOffset, length }: Buffer): Bits => ({
  view: new DataView(buffer, byteOffset, length),
  last: length - 5,
});

/** The 32 bits from a place on; after the end there are zeros. */
export function bitsFrom(bits: Bits, at: number): number {
  const byte = at >>> 3;
  if (byte > bits.last) return bitsNearEnd(bits, byte, at & 7);
  return (bits.view.getInt32(byte) << (at & 7)) | (bits.view.getUint8(byte + 4) >>> (8 - (at & 7)));
}

function bitsNearEnd({ view, last }: Bits, from: number, shift: number): number {
  let five = 0;
  for (let byte = from; byte < from + 5; byte += 1) five = five * 256 + (byte < last + 5 ? view.getUint8(byte) : 0);
  return Math.floor(five / 2 ** (8 - shift)) | 0;
}

/** The first of 32 bits, as a number: 0 to 31 of them. */
export const firstOf = (window: number, bits: number) => (window >>> 1) >>> (31 - bits);

/** The number of up to 62 bits at a place. */
export function numberAt(row: Bits, at: number, bits: number): number {
  const low = Math.min(31, bits);
  const high = bits - low;
  return firstOf(bitsFrom(row, at), high) * 2 ** low + firstOf(bitsFrom(row, at + high), low);
}

/** How many zeros there are from a place on; beyond the end at most 63. */
export function zerosFrom(row: Bits, at: number): number {
  let end = at;
  while (bitsFrom(row, end) === 0 && end < 8 * (row.last + 5)) end += 32;
  return end - at + Math.clz32(bitsFrom(row, end));
}
