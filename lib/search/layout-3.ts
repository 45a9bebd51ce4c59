// The layout of blocks of version 3, in bits. A row begins with how many low bits the gaps between its terms have, and its highest slot.
// Of each term there is its gap from the previous one, by Rice's code, and how many documents have it, by the gamma code; then the
// slot of a single one (three of four terms have one) plainly, or the gaps between several by Rice's code. 1.9 million postings of 90 real
// sessions take 3.8 MB, and 5.5 MB in layout 2; a look-up takes one and a half times as long.
import { type Bits, BitWriter, bitsFrom, bitsOf, firstOf, numberAt, zerosFrom } from "#lib/search/bit-code";
import type { Layout } from "#lib/search/block";
import { endOfTerm, maxDocuments, type Postings, postingOf, termIn } from "#lib/search/posting";

/** The two numbers at the beginning of a row. */
const header = { lowBits: 6, highest: 12 };

/** How many bits a number has. */
const widthOf = (number: number) => 32 - Math.clz32(number);

/** The low bits of numbers with a sum: those of Rice's code that take fewest bits where numbers are spread as by chance. */
const lowBitsOf = (sum: number, count: number) => Math.max(0, Math.floor(Math.log2(sum / count)));

/** As `lowBitsOf`, of the gaps between several slots up to the highest one. */
const lowBitsOfGaps = (highest: number, count: number) => 31 - Math.clz32(Math.max(1, (highest + 1) / count));

export const layout3: Layout = {
  encoder() {
    const writer = new BitWriter();
    return (sorted, first) => {
      const { terms, last, highest } = describe(sorted, first);
      const lowBits = lowBitsOf(last - first, terms);
      writer.write(lowBits, header.lowBits);
      writer.write(highest, header.highest);
      let previous = first - 1;
      for (let at = 0; at < sorted.length; ) {
        const term = termIn(sorted[at] as number);
        const end = endOfTerm(sorted, at, term);
        writer.writeRice(term - previous - 1, lowBits);
        writeSlots(writer, sorted.subarray(at, end), term, highest);
        previous = term;
        at = end;
      }
      return writer.take();
    };
  },

  slotsOf(row, { first }, term) {
    let found = none;
    read(row, first, { from: term, to: term }, ofOneTerm, (_, count) => {
      found = ofOneTerm.slice(0, count);
    });
    return found;
  },

  forEachPosting(row, { first, end }, visit) {
    const slots = new Uint16Array(maxDocuments);
    read(row, first, { from: first, to: end - 1 }, slots, (term, count) => {
      for (let at = 0; at < count; at += 1) visit(term, slots[at] as number);
    });
  },
};

const none = new Uint16Array();
/** Holds what `slotsOf` reads until it is copied. */
const ofOneTerm = new Uint16Array(maxDocuments);

/** How many terms there are, the last one (the first one that could be, without any), and the highest slot. */
function describe(sorted: Postings, first: number): { terms: number; last: number; highest: number } {
  let [terms, last, highest] = [0, -1, 0];
  for (const posting of sorted) {
    const term = termIn(posting);
    if (term !== last) terms += 1;
    last = term;
    highest = Math.max(highest, posting - postingOf(term, 0));
  }
  return { terms, last: Math.max(first, last), highest };
}

function writeSlots(writer: BitWriter, postings: Postings, term: number, highest: number): void {
  const { length } = postings;
  writer.writeGamma(length);
  const slot0 = postingOf(term, 0);
  if (length === 1) {
    writer.write((postings[0] as number) - slot0, widthOf(highest));
    return;
  }
  const lowBits = lowBitsOfGaps(highest, length);
  let previous = slot0 - 1;
  for (const posting of postings) {
    writer.writeRice(posting - previous - 1, lowBits);
    previous = posting;
  }
}

/** The terms that are read: from one to another, and both. */
type Wanted = { from: number; to: number };

/**
 * Calls `visit` with each term of a row that is wanted, and with the number of its slots, which are at the beginning of `slots` then. A row
 * that is damaged ends where something is no number of this layout.
 */
function read(
  row: Buffer,
  first: number,
  { from, to }: Wanted,
  slots: Uint16Array,
  visit: (term: number, count: number) => void,
): void {
  const bits = bitsOf(row);
  const length = row.length * 8;
  const head = bitsFrom(bits, 0);
  const lowBits = firstOf(head, header.lowBits);
  const highest = firstOf(head << header.lowBits, header.highest);
  let term = first - 1;
  for (let at = header.lowBits + header.highest; at < length; ) {
    let window = bitsFrom(bits, at);
    let zeros = Math.clz32(window);
    if (zeros + lowBits < 31) term += 1 + zeros * (1 << lowBits) + firstOf(window << (zeros + 1), lowBits);
    else {
      zeros = zerosFrom(bits, at);
      term += 1 + zeros * 2 ** lowBits + numberAt(bits, at + zeros + 1, lowBits);
    }
    at += zeros + 1 + lowBits;
    window = bitsFrom(bits, at);
    zeros = Math.clz32(window);
    const count = firstOf(window, 2 * zeros + 1);
    at += 2 * zeros + 1;
    if (zeros > header.highest || count > highest + 1 || at > length || !(term <= to)) return;
    if (term < from) at = skipSlots(bits, at, count, highest);
    else {
      at = readSlots(bits, at, slots, count, highest);
      if (at > length) return;
      visit(term, count);
    }
  }
}

/** @returns the place after the slots */
function skipSlots(bits: Bits, from: number, count: number, highest: number): number {
  if (count === 1) return from + widthOf(highest);
  const lowBits = lowBitsOfGaps(highest, count);
  let at = from;
  let [window, left] = [0, 0];
  for (let n = 0; n < count; n += 1) {
    let width = Math.clz32(window) + 1 + lowBits;
    if (width > left) {
      [window, left] = [bitsFrom(bits, at), 32];
      width = Math.clz32(window) + 1 + lowBits;
      if (width > left) [width, window, left] = [zerosFrom(bits, at) + 1 + lowBits, 0, 0];
    }
    // A shift by 32 bits would do nothing.
    window = (window << (width - 1)) << 1;
    left -= width;
    at += width;
  }
  return at;
}

/** After every place in a row. `Infinity` would make floating-point numbers of all places. */
const nowhere = 2 ** 30;

/** Reads slots into the beginning of an array. @returns the place after them; `nowhere` where they can't be */
function readSlots(bits: Bits, from: number, slots: Uint16Array, count: number, highest: number): number {
  if (count === 1) {
    const slot = firstOf(bitsFrom(bits, from), widthOf(highest));
    slots[0] = slot;
    return slot > highest ? nowhere : from + widthOf(highest);
  }
  const lowBits = lowBitsOfGaps(highest, count);
  let at = from;
  let slot = -1;
  for (let n = 0; n < count; n += 1) {
    let window = bitsFrom(bits, at);
    let zeros = Math.clz32(window);
    if (zeros + lowBits < 31) window <<= zeros + 1;
    else {
      zeros = zerosFrom(bits, at);
      if (zeros > highest) return nowhere;
      window = bitsFrom(bits, at + zeros + 1);
    }
    slot += 1 + (zeros << lowBits) + firstOf(window, lowBits);
    at += zeros + 1 + lowBits;
    slots[n] = slot;
  }
  return slot > highest ? nowhere : at;
}
