/** Marks a state at which a word ends: states are multiples of 256. */
const ended = 1;
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

  /** @param words of ASCII */
  constructor(words: readonly string[]) {
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

  /** Calls back with each word's index and the end of where it stands, in the order of the ends. */
  find(text: string, see: (word: number, end: number) => void): void {
    let state = 0;
    for (let from = 0; from < text.length; from += pieceChars) {
      // As Latin-1, each character is a byte; one beyond is taken for another, and what begins with it is no secret.
      const length = bytesOf.write(text.length <= pieceChars ? text : text.slice(from, from + pieceChars), "latin1");
      const next = this.#next;
      for (let at = 0; at < length; at += 1) {
        state = next[(state & ~ended) + (piece[at] as number)] as number;
        if (state & ended) for (const word of this.#found[state >> 8] as number[]) see(word, from + at + 1);
      }
    }
  }
}
