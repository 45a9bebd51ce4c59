// Per term: distance from the previous term, number of documents, and their distances, as 7-bit variable-length
// integers. Arbitrary bytes decode in bounded time.
import { findTermEnd, makePosting, maxDocuments, type Postings, termIn } from "#lib/search/index/posting";

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

  take(): Buffer {
    const taken = Buffer.from(this.bytes.subarray(0, this.end));
    this.end = 0;
    return taken;
  }
}

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
    for (let left = numbers; left > 0 && at < bytes.length; at += 1) if ((bytes[at] as number) < 128) left -= 1;
    this.at = at;
  }
}

const none = new Uint16Array();

function readSlots(reader: Reader, count: number): Uint16Array {
  if (!(count <= maxDocuments)) return none;
  const slots = new Uint16Array(count);
  let slot = 0;
  for (let at = 0; at < count; at += 1) {
    slot += reader.read();
    if (!(slot < maxDocuments)) return none;
    slots[at] = slot;
  }
  return slots;
}

/** `end` is exclusive. */
export type TermRange = { first: number; end: number };

export function makeEncoder(): (sorted: Postings, first: number) => Buffer {
  const writer = new Writer();
  return (sorted, first) => {
    let previous = first;
    for (let at = 0; at < sorted.length; ) {
      const term = termIn(sorted[at] as number);
      const end = findTermEnd(sorted, at, term);
      writer.write(term - previous);
      writeSlots(writer, sorted.subarray(at, end), term);
      previous = term;
      at = end;
    }
    return writer.take();
  };
}

export function readTerm(row: Buffer, { first }: TermRange, term: number): Uint16Array {
  const reader = new Reader(row);
  let current = first;
  while (reader.hasMore) {
    current += reader.read();
    const count = reader.read();
    if (current === term) return readSlots(reader, count);
    if (!(current < term)) break;
    reader.advance(count);
  }
  return none;
}

export function visitPostings(
  row: Buffer,
  { first, end }: TermRange,
  visit: (term: number, slot: number) => void,
): void {
  const reader = new Reader(row);
  let [term, leastTerm] = [first, first];
  while (reader.hasMore) {
    term += reader.read();
    if (!(term >= leastTerm && term < end)) return;
    leastTerm = term + 1;
    let [slot, leastSlot] = [0, 0];
    for (let left = reader.read(); left > 0; left -= 1) {
      slot += reader.read();
      if (!(slot >= leastSlot && slot < maxDocuments)) return;
      leastSlot = slot + 1;
      visit(term, slot);
    }
  }
}

function writeSlots(writer: Writer, postings: Postings, term: number): void {
  writer.write(postings.length);
  let previous = 0;
  for (const posting of postings) {
    const slot = posting - makePosting(term, 0);
    writer.write(slot - previous);
    previous = slot;
  }
}
