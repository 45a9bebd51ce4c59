import { diffWordsWithSpace } from "diff";
import type { DiffLine } from "#lib/transcript/message";

export type Marks = { from: number; to: number; changed: boolean }[];

const comparable = { pairs: 100, lineLength: 300 };

export function markWords(lines: DiffLine[]): Map<number, Marks> {
  const marked = new Map<number, Marks>();
  let pairs = 0;
  for (let at = 0; at < lines.length && pairs < comparable.pairs; at += 1) {
    const removed = runLength(lines, at, "removed");
    if (removed === 0) continue;
    const added = runLength(lines, at + removed, "added");
    for (let index = 0; removed === added && index < removed && pairs < comparable.pairs; index += 1) {
      pairs += 1;
      markPair(lines, at + index, at + removed + index, marked);
    }
    at += removed + added - 1;
  }
  return marked;
}

function runLength(lines: DiffLine[], from: number, type: DiffLine["type"]): number {
  let at = from;
  while (lines[at]?.type === type) at += 1;
  return at - from;
}

function markPair(lines: DiffLine[], before: number, after: number, marked: Map<number, Marks>): void {
  const [old = "", now = ""] = [lines[before]?.text, lines[after]?.text];
  if (old.length > comparable.lineLength || now.length > comparable.lineLength) return;
  const words = diffWordsWithSpace(old, now, { maxEditLength: 200 });
  const same = words?.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length), 0);
  if (!words || same === undefined || same * 3 < Math.max(old.trim().length, now.trim().length)) return;
  marked.set(before, toMarks(words.filter(({ added }) => !added)));
  marked.set(after, toMarks(words.filter(({ removed }) => !removed)));
}

function toMarks(words: { value: string; added?: boolean; removed?: boolean }[]): Marks {
  let from = 0;
  return words.map(({ value, added = false, removed = false }) => {
    const mark = { from, to: from + value.length, changed: added || removed };
    from = mark.to;
    return mark;
  });
}
