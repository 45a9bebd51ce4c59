// Prefixes, corrections and suggestions need words, since terms are hashes.
import { eachInSlices } from "#lib/core/concurrency/slices";
import type { Bucket } from "#lib/search/index/block";
import { fold, foldedCode, hashWord, splitCompound } from "#lib/search/index/terms";

export const firstWordBucket = 2 ** 13;
const keyBits = { first: 6, next: 6 };
const allKeyBits = keyBits.first + keyBits.next;

type Word = { word: string; documents: number };

const wordBits = (bits: number) => Math.max(0, Math.min(allKeyBits, bits - 2));

const letters = { min: 3, max: 48 };

function isRemembered(word: string): boolean {
  if (word.length < letters.min || word.length > letters.max) return false;
  const digits = word.replace(/\D/g, "").length;
  if (digits === 0) return word.length < 12 || word.length / splitCompound(word).length > 2.5;
  return digits <= 4 && digits * 2 < word.length && !/^[\da-f]{6,}$/i.test(word) && !/\d\D+\d\D+\d/.test(word);
}

const spread = (code: number, bits: number) => (Math.imul(code + 1, 0x9e3779b1) >>> 0) >>> (32 - bits);

function getSortKey(lower: string): number {
  const next = lower.charCodeAt(1) * 31 + lower.charCodeAt(2);
  return spread(lower.charCodeAt(0), keyBits.first) * 2 ** keyBits.next + spread(next, keyBits.next);
}

export const findBucket = (lower: string, bits: number) =>
  firstWordBucket + Math.floor(getSortKey(lower) / 2 ** (allKeyBits - wordBits(bits)));

/** End is exclusive. */
export function findLetterBuckets(lower: string, bits: number): [number, number] {
  const first = spread(lower.charCodeAt(0), keyBits.first) * 2 ** keyBits.next;
  const size = 2 ** (allKeyBits - wordBits(bits));
  return [
    firstWordBucket + Math.floor(first / size),
    firstWordBucket + Math.floor((first + 2 ** keyBits.next - 1) / size) + 1,
  ];
}

/** 200 MB: a text of random letters has millions of words. */
const maxWords = 2 ** 20;

export class Vocabulary {
  private readonly words = new Map<number, Word>();
  private readonly most: number;

  constructor(most: number = maxWords) {
    this.most = most;
  }

  add(term: number, text: string, start: number, end: number): void {
    const known = this.words.get(term);
    if (known) known.documents += 1;
    else if (end - start >= letters.min && end - start <= letters.max) this.addNew(term, text.slice(start, end));
  }

  /** Keeps only those counted afterwards. */
  addAll(words: Iterable<Word>): void {
    for (const { word } of words) if (this.hasRoom) this.words.set(hashWord(word), { word, documents: 0 });
  }

  count(term: number, documents: number): void {
    const known = this.words.get(term);
    if (known) known.documents += documents;
  }

  async encode(bits: number): Promise<Bucket[]> {
    const byBucket = new Map<number, Word[]>();
    const group = (word: Word) => {
      if (word.documents === 0) return;
      const bucket = findBucket(fold(word.word), bits);
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
    // A slice would keep its whole text in memory.
    if (this.hasRoom && isRemembered(word)) this.words.set(term, { word: Buffer.from(word).toString(), documents: 1 });
  }
}

function encodeWords(words: Word[]): Buffer {
  const chunks: Buffer[] = [];
  let previous = "";
  for (const { word, documents } of words.toSorted((a, b) => (a.word < b.word ? -1 : 1))) {
    let shared = 0;
    while (shared < previous.length && shared < 63 && previous[shared] === word[shared]) shared += 1;
    const rest = Buffer.from(word.slice(shared));
    // A word has at most 48 letters of three bytes.
    chunks.push(Buffer.from([shared, rest.length, Math.min(255, documents)]), rest);
    previous = word;
  }
  return Buffer.concat(chunks);
}

/** Only matching words become strings. Counts saturate at 255. */
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
