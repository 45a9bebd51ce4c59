// The words of a block, by which beginnings of words, slips and suggestions are found: terms are hashes and can't tell. They
// stand beside the postings, in buckets of their own numbers, by their first three letters; a word that looks like a number or
// like a hash is left out, since nobody remembers its beginning.
import { eachInSlices } from "#lib/concurrency/slices";
import type { Bucket } from "#lib/search/block";
import { fold, foldedCode, splitCompound, termOfWord } from "#lib/search/terms";

/** Postings have the buckets below this one. */
export const firstWordBucket = 2 ** 13;
/** A word's key has bits of its first letter and bits of the next two. */
const keyBits = { first: 6, next: 6 };
const allKeyBits = keyBits.first + keyBits.next;

/** A word as it was first seen, and about how many documents have it. */
export type Word = { word: string; documents: number };

/** How many bits of a word's key say its bucket, in a block with so many bits for its terms: some sixty to 120 words each. */
const wordBits = (bits: number) => Math.max(0, Math.min(allKeyBits, bits - 2));

const letters = { min: 3, max: 48 };

/** Whether a word is one that people look for by its beginning. */
function isRemembered(word: string): boolean {
  if (word.length < letters.min || word.length > letters.max) return false;
  const digits = word.replace(/\D/g, "").length;
  if (digits === 0) return word.length < 12 || word.length / splitCompound(word).length > 2.5;
  return digits <= 4 && digits * 2 < word.length && !/^[\da-f]{6,}$/i.test(word) && !/\d\D+\d\D+\d/.test(word);
}

const spread = (code: number, bits: number) => (Math.imul(code + 1, 0x9e3779b1) >>> 0) >>> (32 - bits);

/** The key of a word by its first three letters in lower case. */
function getSortKey(lower: string): number {
  const next = lower.charCodeAt(1) * 31 + lower.charCodeAt(2);
  return spread(lower.charCodeAt(0), keyBits.first) * 2 ** keyBits.next + spread(next, keyBits.next);
}

/** The bucket of all words that begin with three letters or more. */
export const bucketOfBeginning = (lower: string, bits: number) =>
  firstWordBucket + Math.floor(getSortKey(lower) / 2 ** (allKeyBits - wordBits(bits)));

/** The buckets of all words with the same first letter, in which nearly all slips of a word are: from, and up to but without. */
export function bucketsOfLetter(lower: string, bits: number): [number, number] {
  const first = spread(lower.charCodeAt(0), keyBits.first) * 2 ** keyBits.next;
  const size = 2 ** (allKeyBits - wordBits(bits));
  return [
    firstWordBucket + Math.floor(first / size),
    firstWordBucket + Math.floor((first + 2 ** keyBits.next - 1) / size) + 1,
  ];
}

/** Maximum words of a block, some 200 MB of memory: a text of random letters has millions. */
const maxWords = 2 ** 20;

/** The words of one block while it is made. */
export class Vocabulary {
  private readonly words = new Map<number, Word>();
  private readonly most: number;

  constructor(most: number = maxWords) {
    this.most = most;
  }

  /** Counts a document that has the word at a place of a text. */
  add(term: number, text: string, start: number, end: number): void {
    const known = this.words.get(term);
    if (known) known.documents += 1;
    else if (end - start >= letters.min && end - start <= letters.max) this.addNew(term, text.slice(start, end));
  }

  /** Takes the words of another block; only those that are counted afterwards are kept. */
  addAll(words: Iterable<Word>): void {
    for (const { word } of words) if (this.hasRoom) this.words.set(termOfWord(word), { word, documents: 0 });
  }

  /** Counts the documents of a term, if it is one of a word. */
  count(term: number, documents: number): void {
    const known = this.words.get(term);
    if (known) known.documents += documents;
  }

  /** Encodes the words that documents have as buckets, of a block with so many bits for its terms; in slices. */
  async encode(bits: number): Promise<Bucket[]> {
    const byBucket = new Map<number, Word[]>();
    const group = (word: Word) => {
      if (word.documents === 0) return;
      const bucket = bucketOfBeginning(fold(word.word), bits);
      const words = byBucket.get(bucket);
      if (words) words.push(word);
      else byBucket.set(bucket, [word]);
    };
    await eachInSlices(this.words.values(), group);
    const buckets: Bucket[] = [];
    await eachInSlices(byBucket, ([bucket, words]) => buckets.push({ bucket, postings: encodeWords(words) }));
    return buckets;
  }

  private get hasRoom(): boolean {
    return this.words.size < this.most;
  }

  private addNew(term: number, word: string): void {
    // A slice would keep all of its text in memory.
    if (this.hasRoom && isRemembered(word)) this.words.set(term, { word: Buffer.from(word).toString(), documents: 1 });
  }
}

/** Sorted words, each as the length of what it shares with the one before, what follows that, and its documents. */
function encodeWords(words: Word[]): Buffer {
  const chunks: Buffer[] = [];
  let previous = "";
  for (const { word, documents } of words.toSorted((a, b) => (a.word < b.word ? -1 : 1))) {
    let shared = 0;
    while (shared < previous.length && shared < 63 && previous[shared] === word[shared]) shared += 1;
    const rest = Buffer.from(word.slice(shared));
    // A word has at most 48 letters of at most three bytes each.
    chunks.push(Buffer.from([shared, rest.length, Math.min(255, documents)]), rest);
    previous = word;
  }
  return Buffer.concat(chunks);
}

/**
 * The words of a bucket, or those of them whose folded form has a beginning and at most so many letters; counts are told up to
 * 255. All blocks together have many, of which few are asked for: texts are made of those alone (of 100,000 words some thousand:
 * 5 ms instead of 65).
 */
export function decodeWords(bytes: Buffer, beginning = "", maxLetters = letters.max): Word[] {
  const words: Word[] = [];
  const wanted = toCodes(beginning);
  const codes = new Uint16Array(2 * letters.max);
  for (let at = 0; at + 3 <= bytes.length; ) {
    const [start, length, documents] = [bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number];
    const end = readCodes(bytes, at + 3, length, codes, start);
    if (end <= maxLetters && hasBeginning(codes, end, wanted))
      words.push({ word: String.fromCharCode(...codes.subarray(0, end)), documents });
    at += 3 + length;
  }
  return words;
}

const toCodes = (text: string) => Uint16Array.from(fold(text), (letter) => letter.charCodeAt(0));

/** Reads UTF-8 as UTF-16 to a place of `codes`. @returns where it ends there */
function readCodes(bytes: Buffer, at: number, length: number, codes: Uint16Array, start: number): number {
  for (let n = 0; n < length; n += 1) {
    const byte = bytes[at + n] as number;
    if (byte > 127) {
      const text = bytes.toString("utf8", at, at + length);
      for (let letter = 0; letter < text.length; letter += 1) codes[start + letter] = text.charCodeAt(letter);
      return start + text.length;
    }
    codes[start + n] = byte;
  }
  return start + length;
}

function hasBeginning(codes: Uint16Array, end: number, wanted: Uint16Array): boolean {
  if (end < wanted.length) return false;
  for (let at = 0; at < wanted.length; at += 1) if (foldedCode(codes[at] as number) !== wanted[at]) return false;
  return true;
}
