type CutRow = { positions: number[] };

/** Messages by which an edge may move to avoid splitting a row. */
const slack = 50;

/**
 * Finds a segment's edges near the wanted ones, but not between messages of one row (a call and its result, folded
 * tools).
 * @param positions of all messages read, ascending, including a margin beyond the edges
 * @param wanted indices into `positions`, both inclusive; the message at `keep` must be inside
 * @param fixed edges that may not move: a neighbouring segment or the trace's end decides them
 * @returns indices, both inclusive
 */
export function cutSegment(
  positions: number[],
  rows: CutRow[],
  wanted: { start: number; end: number; keep?: number },
  fixed: { start: boolean; end: boolean },
): { start: number; end: number } {
  const joined = joinedToNext(positions, rows);
  const { keep = wanted.end } = wanted;
  let { start, end } = wanted;
  if (!fixed.start) {
    const last = Math.min(keep, wanted.start + slack);
    while (start <= last && start > 0 && joined[start - 1]) start += 1;
    if (start > last) start = wanted.start;
  }
  if (!fixed.end) {
    const first = Math.max(start, wanted.keep ?? start, wanted.end - slack);
    while (end >= first && joined[end]) end -= 1;
    if (end < first) end = wanted.end;
  }
  return { start, end };
}

/** For each message, true if a row spans it and the next. */
function joinedToNext(positions: number[], rows: CutRow[]): boolean[] {
  const indexByPosition = new Map(positions.map((position, index) => [position, index]));
  const change = new Array<number>(positions.length + 1).fill(0);
  for (const row of rows) {
    const indices = row.positions.flatMap((position) => indexByPosition.get(position) ?? []);
    if (indices.length < 2) continue;
    change[Math.min(...indices)] = (change[Math.min(...indices)] ?? 0) + 1;
    change[Math.max(...indices)] = (change[Math.max(...indices)] ?? 0) - 1;
  }
  let open = 0;
  return positions.map((_, index) => {
    open += change[index] ?? 0;
    return open > 0;
  });
}

/** Undefined if a row crosses the edge. */
export function rowsWithin<R extends CutRow>(rows: R[], first: number, last: number): R[] | undefined {
  const inside: R[] = [];
  for (const row of rows) {
    const within = row.positions.filter((position) => position >= first && position <= last).length;
    if (within === row.positions.length) inside.push(row);
    else if (within > 0) return undefined;
  }
  return inside;
}
