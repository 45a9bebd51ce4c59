/** A text of fewer is read as it is: copying it would take longer. */
const fewChars = 100;
/** So many characters are looked at as bytes at once. */
const pieceChars = 64 * 1024;
const piece = new Uint8Array(pieceChars);
const bytesOf = Buffer.from(piece.buffer);
/** What a piece's second half has, as pairs of a state and an end: told behind what its first half has. */
const later = new Int32Array(pieceChars);

/** Told each word's index and the end of where it stands. */
type See = (word: number, end: number) => void;

/**
 * Finds many words in a text in one pass (Aho and Corasick, 1975), whatever the case of their letters. A secret begins with
 * such a word or has one beside it, and nearly all texts have none.
 */
export class Keywords {
  /** For each state's row and each byte the place of the next state's row. */
  readonly #next: Int32Array;
  /** Of the first row of a state at which words end: those of all others stand before it. */
  readonly #firstEnd: number;
  /** The words that end at the states from there on. */
  readonly #found: number[][];
  readonly #longest: number;

  /** @param words of ASCII */
  constructor(words: readonly string[]) {
    this.#longest = Math.max(...words.map(({ length }) => length));
    const next = new Int32Array(words.reduce((sum, { length }) => sum + length, 1) * 256);
    const found: number[][] = [[]];
    for (const [index, word] of words.entries()) add(next, found, word.toLowerCase(), index);
    link(next, found);
    const isEnd = (state: number) => (found[state] as number[]).length > 0;
    const order = [...found.keys()].sort((a, b) => Number(isEnd(a)) - Number(isEnd(b)) || a - b);
    const placeOf = new Int32Array(order.length);
    for (const [row, state] of order.entries()) placeOf[state] = row * 256;
    this.#next = new Int32Array(order.length * 256);
    for (const [row, state] of order.entries())
      for (let byte = 0; byte < 256; byte += 1)
        this.#next[row * 256 + byte] = placeOf[next[state * 256 + byte] as number] as number;
    this.#found = order.filter(isEnd).map((state) => found[state] as number[]);
    this.#firstEnd = (order.length - this.#found.length) * 256;
  }

  /** Calls back with each word's index and the end of where it stands, in the order of the ends */
  find(text: string, see: See): void {
    if (text.length < fewChars) {
      this.#readText(text, see);
      return;
    }
    let state = 0;
    for (let from = 0; from < text.length; from += pieceChars) {
      // As Latin-1, each character is a byte; one beyond is taken for another, and what begins with it is no secret.
      const length = bytesOf.write(text.length <= pieceChars ? text : text.slice(from, from + pieceChars), "latin1");
      const isShort = length < this.#longest * 2;
      state = isShort ? this.#readPiece(state, length, from, see) : this.#readHalves(state, length, from, see);
    }
  }

  #readText(text: string, see: See): void {
    const [next, firstEnd] = [this.#next, this.#firstEnd];
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      state = next[state + (text.charCodeAt(at) & 0xff)] as number;
      if (state >= firstEnd) this.#tell(state, at + 1, see);
    }
  }

  /** Reads a piece, which begins at `from` in its text, from a state on. @returns the state at the piece's end */
  #readPiece(state: number, length: number, from: number, see: See): number {
    let last = state;
    for (let at = 0; at < length; at += 1) {
      last = this.#next[last + (piece[at] as number)] as number;
      if (last >= this.#firstEnd) this.#tell(last, from + at + 1, see);
    }
    return last;
  }

  /**
   * The same. Each step waits for the one before, so that the piece's two halves are read side by side, which takes two thirds of
   * the time; the second begins so early that it knows every word that ends in it.
   */
  #readHalves(state: number, length: number, from: number, see: See): number {
    const [next, firstEnd] = [this.#next, this.#firstEnd];
    const middle = length >> 1;
    let count = 0;
    let [first, second] = [state, 0];
    for (let at = middle - this.#longest; at < middle; at += 1) second = next[second + (piece[at] as number)] as number;
    for (let at = 0; at < middle; at += 1) {
      first = next[first + (piece[at] as number)] as number;
      if (first >= firstEnd) this.#tell(first, from + at + 1, see);
      second = next[second + (piece[middle + at] as number)] as number;
      if (second < firstEnd) continue;
      later[count] = second;
      later[count + 1] = from + middle + at + 1;
      count += 2;
    }
    for (let at = 0; at < count; at += 2) this.#tell(later[at] as number, later[at + 1] as number, see);
    if (middle * 2 === length) return second;
    second = next[second + (piece[length - 1] as number)] as number;
    if (second >= firstEnd) this.#tell(second, from + length, see);
    return second;
  }

  #tell(state: number, end: number, see: See): void {
    for (const word of this.#found[(state - this.#firstEnd) >> 8] as number[]) see(word, end);
  }
}

function add(next: Int32Array, found: number[][], word: string, index: number): void {
  let state = 0;
  for (const byte of Buffer.from(word, "latin1")) {
    const slot = state * 256 + byte;
    if (next[slot] === 0) next[slot] = found.push([]) - 1;
    state = next[slot] as number;
  }
  found[state]?.push(index);
}

/** Where no word goes on, it goes on from the longest end of what was read that begins a word. */
function link(next: Int32Array, found: number[][]): void {
  const fallback = new Int32Array(found.length);
  const queue = [0];
  for (const state of queue) {
    for (let byte = 0; byte < 256; byte += 1) {
      const slot = state * 256 + byte;
      const child = next[slot] as number;
      const behind = state === 0 ? 0 : (next[(fallback[state] as number) * 256 + byte] as number);
      if (child === 0) {
        next[slot] = behind;
        continue;
      }
      fallback[child] = behind;
      found[child]?.push(...(found[behind] as number[]));
      queue.push(child);
    }
  }
  for (let row = 0; row < next.length; row += 256) {
    for (let byte = 0x41; byte <= 0x5a; byte += 1) next[row + byte] = next[row + byte + 0x20] as number;
  }
}
