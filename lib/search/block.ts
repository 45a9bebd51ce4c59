// The layout of postings. A posting says that a document has a term. A block holds those of up to 4,096 documents, sorted, in
// buckets by the first bits of the term; a bucket is one row. Each term is written as its distance from the previous one, the
// number of its documents, and their distances, all as variable-length numbers with seven bits a byte.
import { termBits } from "#lib/search/terms";

/** How many documents a block can have. */
export const maxDocuments = 4096;

/** What blocks hold that are written now; those of a lower version lack words, fields and facts. */
export const blockVersion = 2;

/** The approximate number of postings in a bucket: a row of less than a kilobyte, unless a term occurs in most documents. */
const postingsPerBucket = 256;

/** About what a posting takes in a bucket. */
export const bytesPerPosting = 4;

/** Terms and the slots of their documents, sorted by both: `term * 4096 + slot`, below 2^52. */
export type Postings = Float64Array;

export const postingOf = (term: number, slot: number) => term * maxDocuments + slot;

/** Postings are partitioned by this many bits of the term before they are sorted: 1.3 to 2 times as fast as one sort. */
const partBits = 12;

/** Sorts postings into a new array. */
export function sort(postings: Postings): Postings {
  const span = 2 ** (termBits - partBits) * maxDocuments;
  // Where the next posting of each part goes, and in the end where the part ends.
  const places = new Uint32Array(2 ** partBits + 1);
  const count = (part: number, more: number) => {
    const place = places[part] as number;
    places[part] = place + more;
    return place;
  };
  for (const posting of postings) count(Math.floor(posting / span) + 1, 1);
  for (let part = 1; part < places.length; part += 1) count(part, places[part - 1] as number);
  const sorted = new Float64Array(postings.length);
  for (const posting of postings) sorted[count(Math.floor(posting / span), 1)] = posting;
  let start = 0;
  for (const end of places) {
    if (end > start + 1) sorted.subarray(start, end).sort();
    start = end;
  }
  return sorted;
}

/** How many bits of a term say its bucket, in a block of so many postings. */
export const bucketBits = (postings: number) =>
  Math.max(0, Math.min(13, Math.round(Math.log2(postings / postingsPerBucket))));

/** The bucket of a term, of `2 ** bits`. */
export const bucketOf = (term: number, bits: number) => Math.floor(term / 2 ** (termBits - bits));

/** A growing buffer of variable-length numbers. */
class Writer {
  private bytes = Buffer.allocUnsafeSlow(4096);
  private end = 0;

  write(number: number): void {
    if (this.end + 8 > this.bytes.length) {
      this.bytes = Buffer.concat([this.bytes], this.bytes.length * 2);
    }
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.bytes[this.end++] = (rest % 128) | 128;
    this.bytes[this.end++] = rest;
  }

  /** Returns what was written since the last call. */
  take(): Buffer {
    const taken = Buffer.from(this.bytes.subarray(0, this.end));
    this.end = 0;
    return taken;
  }
}

/** A row of a block. */
export type Bucket = { bucket: number; postings: Buffer };

/** Encodes sorted postings without duplicates as buckets, leaving out empty ones. */
export function encode(sorted: Postings, bits: number): Bucket[] {
  const writer = new Writer();
  const buckets: Bucket[] = [];
  const span = 2 ** (termBits - bits) * maxDocuments;
  for (let at = 0; at < sorted.length; ) {
    const bucket = Math.floor((sorted[at] as number) / span);
    let previous = bucket * (span / maxDocuments);
    while (at < sorted.length && (sorted[at] as number) < (bucket + 1) * span) {
      const term = Math.floor((sorted[at] as number) / maxDocuments);
      const end = endOfTerm(sorted, at, term);
      writer.write(term - previous);
      writeSlots(writer, sorted.subarray(at, end), term);
      previous = term;
      at = end;
    }
    buckets.push({ bucket, postings: writer.take() });
  }
  return buckets;
}

function endOfTerm(sorted: Postings, from: number, term: number): number {
  const next = postingOf(term + 1, 0);
  let end = from + 1;
  while (end < sorted.length && (sorted[end] as number) < next) end += 1;
  return end;
}

function writeSlots(writer: Writer, postings: Postings, term: number): void {
  writer.write(postings.length);
  let previous = 0;
  for (const posting of postings) {
    const slot = posting - postingOf(term, 0);
    writer.write(slot - previous);
    previous = slot;
  }
}

/** Reads variable-length numbers. */
class Reader {
  private at = 0;
  private readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get hasMore(): boolean {
    return this.at < this.bytes.length;
  }

  read(): number {
    const { bytes } = this;
    let byte = bytes[this.at++] as number;
    if (byte < 128) return byte;
    let number = byte & 127;
    for (let place = 128; byte > 127; place *= 128) {
      byte = bytes[this.at++] as number;
      number += (byte & 127) * place;
    }
    return number;
  }

  advance(numbers: number): void {
    const { bytes } = this;
    let at = this.at;
    for (let left = numbers; left > 0; at += 1) if ((bytes[at] as number) < 128) left -= 1;
    this.at = at;
  }
}

/** The slots of the documents that have a term, in their order. */
export function slotsOf(term: number, { bucket, postings }: Bucket, bits: number): Uint16Array {
  const reader = new Reader(postings);
  let current = bucket * 2 ** (termBits - bits);
  while (reader.hasMore) {
    current += reader.read();
    const count = reader.read();
    if (current > term) break;
    if (current < term) reader.advance(count);
    else {
      const slots = new Uint16Array(count);
      let slot = 0;
      for (let at = 0; at < count; at += 1) {
        slot += reader.read();
        slots[at] = slot;
      }
      return slots;
    }
  }
  return none;
}

const none = new Uint16Array();

/** Calls `visit` with every posting of a bucket. */
export function forEachPosting(
  { bucket, postings }: Bucket,
  bits: number,
  visit: (term: number, slot: number) => void,
): void {
  const reader = new Reader(postings);
  let term = bucket * 2 ** (termBits - bits);
  while (reader.hasMore) {
    term += reader.read();
    let slot = 0;
    for (let left = reader.read(); left > 0; left -= 1) {
      slot += reader.read();
      visit(term, slot);
    }
  }
}
