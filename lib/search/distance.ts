/** Damerau-Levenshtein distance, `max + 1` if greater than `max`. */
export function distance(one: string, other: string, max: number): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const isSame = one[row - 1] === other[at - 1];
      const isSwapped = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      const changed = (last[at - 1] as number) + (isSame ? 0 : 1);
      const swapped = isSwapped ? (before[at - 2] as number) + 1 : changed;
      next.push(Math.min(changed, swapped, (last[at] as number) + 1, (next[at - 1] as number) + 1));
    }
    if (Math.min(...next) > max) return max + 1;
    [before, last] = [last, next];
  }
  return Math.min(last[other.length] as number, max + 1);
}
