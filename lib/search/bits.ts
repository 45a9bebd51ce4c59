// Sets of a block's slots, one bit each.
import { maxDocuments } from "#lib/search/posting";

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

/** Lists slots in descending order. */
export function slotsDown(bits: Buffer): number[] {
  const slots: number[] = [];
  forEachSlot(bits, (slot) => slots.push(slot));
  return slots.reverse();
}
