const pieceBytes = 1024 * 1024;
const maxBytesPerUnit = 3;

const idleBuffers: Buffer[] = [];

/** Joined strings would be copied twice. */
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
