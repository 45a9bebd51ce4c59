const pieceBytes = 1024 * 1024;
const maxBytesPerUnit = 3;

const [comma, zero] = [0x2c, 0x30];

export function countDigits(count: number): number {
  let digits = 1;
  for (let rest = count; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  return digits;
}

const idleBuffers: Buffer[] = [];

/** Encodes texts into pieces of UTF-8, which avoids joined strings that would be copied twice. */
export class JsonBytes {
  readonly #onPiece: (piece: Buffer) => void;
  #buffer: Buffer | undefined;
  length = 0;

  /** @param onPiece has to copy a piece to keep it */
  constructor(onPiece: (piece: Buffer) => void) {
    this.#onPiece = onPiece;
  }

  add(text: string): void {
    const max = text.length * maxBytesPerUnit;
    if (this.length + max > pieceBytes) this.flush();
    if (max > pieceBytes) {
      this.#onPiece(Buffer.from(text));
      return;
    }
    this.#buffer ??= idleBuffers.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
    this.length += this.#buffer.write(text, this.length);
  }

  /**
   * Adds an object's JSON with a count before its other fields, such as `,{"position":7`, three times as fast as two
   * texts.
   */
  addCounted(beginning: Buffer, count: number, json: string): void {
    const isEmpty = json === "{}";
    const digits = countDigits(count);
    const max = beginning.length + digits + json.length * maxBytesPerUnit;
    if (this.length + max > pieceBytes) this.flush();
    if (max > pieceBytes) {
      this.#onPiece(Buffer.from(`${beginning}${count}${isEmpty ? "" : ","}${json.slice(1)}`));
      return;
    }
    this.#buffer ??= idleBuffers.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
    const buffer = this.#buffer;
    const end = this.length + beginning.length + digits;
    // JSON's brace is written where a comma or the last digit then replaces it.
    const brace = isEmpty ? end - 1 : end;
    const written = buffer.write(json, brace);
    buffer[brace] = comma;
    for (let at = 0; at < beginning.length; at++) buffer[this.length + at] = beginning[at] as number;
    for (let [at, rest] = [end - 1, count]; at >= end - digits; at--, rest = Math.floor(rest / 10))
      buffer[at] = zero + (rest % 10);
    this.length = brace + written;
  }

  flush(): void {
    if (!this.#buffer || this.length === 0) return;
    const piece = this.#buffer.subarray(0, this.length);
    this.length = 0;
    this.#onPiece(piece);
  }

  release(): void {
    this.flush();
    if (this.#buffer) idleBuffers.push(this.#buffer);
    this.#buffer = undefined;
  }
}
