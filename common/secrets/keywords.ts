/** Copying a shorter text to bytes takes longer than reading it. */
const minCopiedChars = 100;
const pieceChars = 64 * 1024;
const piece = new Uint8Array(pieceChars);
const pieceBuffer = Buffer.from(piece.buffer);
const [early, later] = [new Int32Array(pieceChars), new Int32Array(pieceChars)];

type OnWord = (word: number, end: number) => void;

/** Finds all words in one pass (Aho and Corasick, 1975). */
export class KeywordSearch {
  /** Each byte has a column; 0 is for bytes in no word. */
  readonly #columns: Uint8Array;
  /** By row of a state and column: where the next state's row begins. */
  readonly #next: Int32Array;
  readonly #rowBits: number;
  /** The first row of a state at which words end; all other rows come first. */
  readonly #firstEnd: number;
  readonly #found: number[][];
  readonly #longest: number;

  /** @param words letters beyond Latin-1 match by their lower byte, so their matches have to be checked */
  constructor(words: readonly string[]) {
    this.#longest = Math.max(...words.map(({ length }) => length));
    const { columns, count } = numberColumns(words);
    this.#columns = columns;
    this.#rowBits = Math.ceil(Math.log2(count));
    const { next, found, firstEnd } = makeTable(words, columns, this.#rowBits);
    this.#next = next;
    this.#found = found;
    this.#firstEnd = firstEnd;
  }

  find(text: string, see: OnWord): void {
    if (text.length < minCopiedChars) {
      this.#readText(text, see);
      return;
    }
    let state = 0;
    for (let from = 0; from < text.length; from += pieceChars) {
      // Latin-1 has one byte per character; characters beyond it are cut to their lower byte.
      const length = pieceBuffer.write(
        text.length <= pieceChars ? text : text.slice(from, from + pieceChars),
        "latin1",
      );
      const isShort = length < this.#longest * 2;
      state = isShort ? this.#readPiece(state, length, from, see) : this.#readHalves(state, length, from, see);
    }
  }

  areMissing(before: string, text: string, behind: string): boolean {
    return this.#pass(this.#pass(this.#pass(0, before), text), behind) >= 0;
  }

  #pass(state: number, text: string): number {
    if (state < 0) return state;
    const [columns, next, firstEnd] = [this.#columns, this.#next, this.#firstEnd];
    let last = state;
    for (let at = 0; at < text.length; at += 1) {
      last = next[last + (columns[text.charCodeAt(at) & 0xff] as number)] as number;
      if (last >= firstEnd) return -1;
    }
    return last;
  }

  #readText(text: string, see: OnWord): void {
    const [columns, next, firstEnd] = [this.#columns, this.#next, this.#firstEnd];
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      state = next[state + (columns[text.charCodeAt(at) & 0xff] as number)] as number;
      if (state >= firstEnd) this.#tell(state, at + 1, see);
    }
  }

  #readPiece(state: number, length: number, from: number, see: OnWord): number {
    let last = state;
    for (let at = 0; at < length; at += 1) {
      last = this.#next[last + (this.#columns[piece[at] as number] as number)] as number;
      if (last >= this.#firstEnd) this.#tell(last, from + at + 1, see);
    }
    return last;
  }

  /** Each step depends on the previous one, so reading two halves in parallel takes two thirds of the time. */
  #readHalves(state: number, length: number, from: number, see: OnWord): number {
    const [columns, next, firstEnd] = [this.#columns, this.#next, this.#firstEnd];
    const middle = length >> 1;
    let [first, second] = [state, 0];
    for (let at = middle - this.#longest; at < middle; at += 1)
      second = next[second + (columns[piece[at] as number] as number)] as number;
    let [earlyEnd, laterEnd] = [0, 0];
    // A call in this loop would double its time.
    for (let at = 0; at < middle; at += 1) {
      first = next[first + (columns[piece[at] as number] as number)] as number;
      if (first >= firstEnd) {
        early[earlyEnd] = first;
        early[earlyEnd + 1] = from + at + 1;
        earlyEnd += 2;
      }
      second = next[second + (columns[piece[middle + at] as number] as number)] as number;
      if (second < firstEnd) continue;
      later[laterEnd] = second;
      later[laterEnd + 1] = from + middle + at + 1;
      laterEnd += 2;
    }
    for (let at = 0; at < earlyEnd; at += 2) this.#tell(early[at] as number, early[at + 1] as number, see);
    for (let at = 0; at < laterEnd; at += 2) this.#tell(later[at] as number, later[at + 1] as number, see);
    if (middle * 2 === length) return second;
    second = next[second + (columns[piece[length - 1] as number] as number)] as number;
    if (second >= firstEnd) this.#tell(second, from + length, see);
    return second;
  }

  #tell(state: number, end: number, see: OnWord): void {
    for (const word of this.#found[(state - this.#firstEnd) >> this.#rowBits] as number[]) see(word, end);
  }
}

/** Some 60 columns keep the table in the processor's cache, which halves the time. */
function numberColumns(words: readonly string[]): { columns: Uint8Array; count: number } {
  const columns = new Uint8Array(256);
  let count = 1;
  for (const one of Buffer.from(words.join("").toLowerCase(), "latin1")) {
    const byte = one >= 0x41 && one <= 0x5a ? one + 0x20 : one;
    if (columns[byte] !== 0) continue;
    columns[byte] = count;
    count += 1;
  }
  for (let byte = 0x41; byte <= 0x5a; byte += 1) columns[byte] = columns[byte + 0x20] as number;
  return { columns, count };
}

/** A state is the beginning of a word that was read; 0 is the empty one. */
type State = { children: Map<number, State>; words: number[]; row: number; fallback: State | undefined };

const makeState = (): State => ({ children: new Map(), words: [], row: 0, fallback: undefined });

function makeTree(words: readonly string[], columns: Uint8Array): { root: State; count: number } {
  const root = makeState();
  let count = 1;
  for (const [index, word] of words.entries()) {
    let state = root;
    for (const byte of Buffer.from(word, "latin1")) {
      const column = columns[byte] as number;
      let child = state.children.get(column);
      if (!child) {
        child = makeState();
        count += 1;
        state.children.set(column, child);
      }
      state = child;
    }
    state.words.push(index);
  }
  return { root, count };
}

type Table = { next: Int32Array; found: number[][]; firstEnd: number };

/** If no word continues, the search continues from the longest suffix that begins a word. */
function makeTable(words: readonly string[], columns: Uint8Array, rowBits: number): Table {
  const { root, count } = makeTree(words, columns);
  const width = 1 << rowBits;
  const next = new Int32Array(count * width);
  const byRow: State[] = new Array(count).fill(root);
  let [front, back] = [width, count * width];
  const queue = [root];
  for (const state of queue) {
    const behind = state.fallback?.row ?? 0;
    if (state !== root) next.copyWithin(state.row, behind, behind + width);
    for (const [column, child] of state.children) {
      child.fallback = state === root ? root : byRow[(next[behind + column] as number) >> rowBits];
      child.words.push(...(child.fallback?.words ?? []));
      // Rows at which words end come last, so that one comparison finds them.
      if (child.words.length === 0) {
        child.row = front;
        front += width;
      } else {
        back -= width;
        child.row = back;
      }
      byRow[child.row >> rowBits] = child;
      next[state.row + column] = child.row;
      queue.push(child);
    }
  }
  return { next, found: byRow.slice(back >> rowBits).map(({ words }) => words), firstEnd: back };
}
