/** Texts are collected in a buffer of so many bytes; a longer text becomes a piece of its own. */
const pieceBytes = 1024 * 1024;
/** UTF-8 takes at most so many bytes for a UTF-16 unit. */
const maxBytesPerUnit = 3;

/** Buffers that no session uses at the moment. */
const idleBuffers: Buffer[] = [];

/**
 * Encodes texts one after the other into pieces of UTF-8. Joining them as texts first would copy each twice, and leave strings of
 * a piece's length to the garbage collector.
 */
export class JsonBytes {
  readonly #onPiece: (piece: Buffer) => void;
  #buffer: Buffer | undefined;
  /** The bytes that are pending. */
  length = 0;

  /** @param onPiece called with each piece, which it has to copy if it keeps it */
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

  /** Hands over what is pending. */
  flush(): void {
    if (!this.#buffer || this.length === 0) return;
    const piece = this.#buffer.subarray(0, this.length);
    this.length = 0;
    this.#onPiece(piece);
  }

  /** Hands over what is pending, and lets another session have the buffer. */
  release(): void {
    this.flush();
    if (this.#buffer) idleBuffers.push(this.#buffer);
    this.#buffer = undefined;
  }
}
