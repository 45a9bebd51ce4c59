export type LineCounts = { added: number; removed: number };

export type Effort = { steps: number };

/** A step limit, unlike a time limit, gives the same counts on every machine; this one takes about 20 ms. */
export const newEffort = (): Effort => ({ steps: 2_000_000 });

/** Beyond the effort, every line between the first and the last difference counts as changed. */
export function countChange(before: string, after: string, effort: Effort = newEffort()): LineCounts {
  if (before === after) return { added: 0, removed: 0 };
  const [old, now] = [splitLines(before), splitLines(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  if (start === old.length && start === now.length) return { added: 1, removed: 1 };
  let [oldEnd, nowEnd] = [old.length, now.length];
  while (oldEnd > start && nowEnd > start && old[oldEnd - 1] === now[nowEnd - 1])
    [oldEnd, nowEnd] = [oldEnd - 1, nowEnd - 1];
  const [removed, added] = [oldEnd - start, nowEnd - start];
  const kept = removed === 0 || added === 0 ? 0 : countKept(old.slice(start, oldEnd), now.slice(start, nowEnd), effort);
  return { added: added - kept, removed: removed - kept };
}

function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function countKept(old: string[], now: string[], effort: Effort): number {
  const [a, b] = numbered(old, now);
  const edits = countEdits(a, b, effort);
  return edits === undefined ? 0 : (a.length + b.length - edits) / 2;
}

function numbered(old: string[], now: string[]): [number[], number[]] {
  const numbers = new Map<string, number>();
  for (const line of old) if (!numbers.has(line)) numbers.set(line, numbers.size);
  const used = new Set<number>();
  const b = now.flatMap((line) => {
    const number = numbers.get(line);
    if (number === undefined) return [];
    used.add(number);
    return [number];
  });
  const a = old.map((line) => numbers.get(line) ?? -1).filter((number) => used.has(number));
  return [a, b];
}

/** Myers' greedy algorithm (1986): the fewest insertions and deletions. */
function countEdits(a: number[], b: number[], effort: Effort): number | undefined {
  const max = a.length + b.length;
  const bound = Math.min(max, Math.ceil(Math.sqrt(2 * Math.max(0, effort.steps))) + 1);
  const reached = new Int32Array(2 * bound + 3);
  for (let edits = 0; edits <= bound; edits += 1) {
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const at = diagonal + bound + 1;
      const [below, above] = [reached[at + 1] as number, reached[at - 1] as number];
      let x = diagonal === -edits || (diagonal !== edits && above < below) ? below : above + 1;
      const from = x;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
      reached[at] = x;
      effort.steps -= 1 + x - from;
      if (x >= a.length && x - diagonal >= b.length) return edits;
    }
    if (effort.steps <= 0) return undefined;
  }
  return undefined;
}
