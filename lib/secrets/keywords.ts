/** Marks a state at which a word ends: states are multiples of 256. */
const ended = 1;
/** A text of fewer is read as it is: copying it would take longer. */
const fewChars = 100;
/** So many characters are looked at as bytes at once. */
const pieceChars = 64 * 1024;
const piece = new Uint8Array(pieceChars);
const bytesOf = Buffer.from(piece.buffer);

/**
 * Finds many words in a text in one pass (Aho and Corasick, 1975), whatever the case of their letters. A secret begins with
 * such a word or has one beside it, and nearly all texts have none.
 */
export class Keywords {
  /** For each state and byte the next state's place in this table, and in its lowest bit whether a word ends there. */
  readonly #next: Int32Array;
  /** The words that end at each state. */
  readonly #found: number[][] = [[]];
  readonly #longest: number;

  /** @param words of ASCII */
  constructor(words: readonly string[]) {
    this.#longest = Math.max(...words.map(({ length }) => length));
    const rows = words.reduce((sum, { length }) => sum + length, 1);
    const next = new Int32Array(rows * 256);
    for (const [index, word] of words.entries()) this.#add(next, word.toLowerCase(), index);
    this.#link(next);
    const ends = (state: number) => ((this.#found[state] as number[]).length > 0 ? 1 : 0);
    this.#next = next.map((state) => state * 256 + ends(state) * ended);
  }

  #add(next: Int32Array, word: string, index: number): void {
    let state = 0;
    for (const byte of Buffer.from(word, "latin1")) {
      const slot = state * 256 + byte;
      if (next[slot] === 0) next[slot] = this.#found.push([]) - 1;
      state = next[slot] as number;
    }
    this.#found[state]?.push(index);
  }

  /** Where no word goes on, it goes on from the longest end of what was read that begins a word. */
  #link(next: Int32Array): void {
    const fallback = new Int32Array(this.#found.length);
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
        this.#found[child]?.push(...(this.#found[behind] as number[]));
        queue.push(child);
      }
    }
    for (let row = 0; row < next.length; row += 256) {
      for (let byte = 0x41; byte <= 0x5a; byte += 1) next[row + byte] = next[row + byte + 0x20] as number;
    }
  }

  /** Calls back with each word's index and the end of where it stands, in the order of the ends */
  find(text: string, see: (word: number, end: number) => void): void {
    if (text.length < fewChars) {
      this.#readText(text, see);
      return;
    }
    let state = 0;
    for (let from = 0; from < text.length; from += pieceChars) {
      // As Latin-1, each character is a byte; one beyond is taken for another, and what begins with it is no secret.
      const length = bytesOf.write(text.length <= pieceChars ? text : text.slice(from, from + pieceChars), "latin1");
      const middle = length < this.#longest * 2 ? length : length >> 1;
      state = this.#readHalves(state, middle, length, (found, at) => this.#tell(found, from + at, see));
    }
  }

  #readText(text: string, see: (word: number, end: number) => void): void {
    const next = this.#next;
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      state = next[(state & ~ended) + (text.charCodeAt(at) & 0xff)] as number;
      if (state & ended) this.#tell(state, at + 1, see);
    }
  }

  /**
   * Reads a piece from a state on. Each step waits for the one before, so that its two halves are read side by side, which takes
   * two thirds of the time; the second begins so early that it knows every word that ends in it.
   *
   * @returns the state at the piece's end
   */
  #readHalves(from: number, middle: number, length: number, tell: (state: number, end: number) => void): number {
    const next = this.#next;
    const later: number[] = [];
    let [first, second] = [from, 0];
    const isOne = middle === length;
    for (let at = middle - this.#longest; !isOne && at < middle; at += 1)
      second = next[(second & ~ended) + (piece[at] as number)] as number;
    for (let at = 0; at < middle; at += 1) {
      first = next[(first & ~ended) + (piece[at] as number)] as number;
      if (first & ended) tell(first, at + 1);
      if (isOne) continue;
      second = next[(second & ~ended) + (piece[middle + at] as number)] as number;
      if (second & ended) later.push(second, middle + at + 1);
    }
    if (isOne) return first;
    if (middle * 2 < length) {
      second = next[(second & ~ended) + (piece[length - 1] as number)] as number;
      if (second & ended) later.push(second, length);
    }
    for (let at = 0; at < later.length; at += 2) tell(later[at] as number, later[at + 1] as number);
    return second;
  }

  #tell(state: number, end: number, see: (word: number, end: number) => void): void {
    for (const word of this.#found[state >> 8] as number[]) see(word, end);
  }
}
