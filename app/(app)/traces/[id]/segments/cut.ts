type CutRow = { positions: number[] };

/** How many messages an edge may move from where it was wanted, so that it splits no row. */
const slack = 50;

/**
 * Where a segment begins and ends: as near as possible to what is wanted, but not between two messages of one row (a call and
 * its result, folded tools).
 *
 * @param positions of all messages that were read, ascending; more than are wanted, so that rows across the edges are seen.
 * @param wanted indices into `positions`, both included; `keep` is the index of one that must be in.
 * @param fixed which edges may not move: a neighbouring segment or the trace's end decides them.
 * @returns indices, both included.
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

/** For each message, whether some row holds it or one before it together with one after it. */
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

/** The rows within a segment, or undefined where one of them crosses its edge. */
export function rowsWithin<R extends CutRow>(rows: R[], first: number, last: number): R[] | undefined {
  const inside: R[] = [];
  for (const row of rows) {
    const within = row.positions.filter((position) => position >= first && position <= last).length;
    if (within === row.positions.length) inside.push(row);
    else if (within > 0) return undefined;
  }
  return inside;
}
