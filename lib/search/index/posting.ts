// A posting combines a term with the slot of a document in one number.
import { termBits } from "#lib/search/index/terms";

export const maxDocuments = 4096;

/** Sorted `term * 4096 + slot`, below 2^52. */
export type Postings = Float64Array;

export const makePosting = (term: number, slot: number) => term * maxDocuments + slot;

export const termIn = (posting: number) => Math.floor(posting / maxDocuments);

export function findTermEnd(sorted: Postings, from: number, term: number): number {
  const next = makePosting(term + 1, 0);
  let end = from + 1;
  while (end < sorted.length && (sorted[end] as number) < next) end += 1;
  return end;
}

/** Partitioning before sorting is up to twice as fast. */
const partBits = 12;

export function sort(postings: Postings): Postings {
  const span = 2 ** (termBits - partBits) * maxDocuments;
  // The next index of each part; finally its end.
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

export const maxSlots = maxDocuments / 8;

export const hasBit = (bits: Buffer, at: number) => ((bits[at >> 3] as number) & (1 << (at & 7))) !== 0;

export function setBit(bits: Buffer, at: number, value: boolean): void {
  const byte = bits[at >> 3] as number;
  bits[at >> 3] = value ? byte | (1 << (at & 7)) : byte & ~(1 << (at & 7));
}

export function slotsWith(slots: Iterable<number>): Buffer {
  const bits = Buffer.alloc(maxSlots);
  for (const slot of slots) bits[slot >> 3] = (bits[slot >> 3] as number) | (1 << (slot & 7));
  return bits;
}

export function orInto(bits: Buffer, others: Buffer): Buffer {
  for (let at = 0; at < bits.length; at += 1) bits[at] = (bits[at] as number) | (others[at] as number);
  return bits;
}

export function forEachSlot(bits: Buffer, visit: (slot: number) => void): void {
  for (let at = 0; at < bits.length; at += 1) {
    for (let left = bits[at] as number; left > 0; left &= left - 1) visit(at * 8 + 31 - Math.clz32(left & -left));
  }
}

export function countSlots(bits: Buffer | undefined): number {
  let count = 0;
  for (let at = 0; at < (bits?.length ?? 0); at += 1) count += ones[bits?.[at] as number] as number;
  return count;
}

const ones = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);

export function slotsDown(bits: Buffer): number[] {
  const slots: number[] = [];
  forEachSlot(bits, (slot) => slots.push(slot));
  return slots.reverse();
}
