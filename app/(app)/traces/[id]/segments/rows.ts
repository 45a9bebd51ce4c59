import type { ReaderRow } from "#lib/transcript/message";
import { makeRows } from "#lib/transcript/rows";
import { getDrawingCost } from "../messages/folding";
import type { Read } from "./read-segment";

export type SegmentRows = {
  rows: ReaderRow[];
  first: number;
  last: number;
  count: number;
  earlier: boolean;
  later: boolean;
};

const shareAfter = 0.7;

/**
 * A row that must be split is rebuilt from its remaining messages.
 *
 * @param talk rows that the conversation view leaves out cost nothing
 * @param maxCost in the unit of `getDrawingCost`; one row always comes
 */
export function makeSegmentRows(read: Read, talk: boolean, maxCost: number): SegmentRows {
  const { messages, keep, earlier, later } = read;
  const rows = makeRows(messages);
  const { start, end, fixed } = affordable(read, talk ? rows.filter((row) => row.talk) : rows, maxCost);
  const span = cutSegment(
    messages.map(({ position }) => position),
    rows,
    { start, end, ...(keep !== undefined && { keep }) },
    fixed,
  );
  const inside = messages.slice(span.start, span.end + 1);
  const first = inside[0]?.position ?? 0;
  const last = inside.at(-1)?.position ?? 0;
  return {
    rows: rowsWithin(rows, first, last) ?? makeRows(inside),
    first,
    last,
    count: inside.length,
    earlier: earlier || span.start > 0,
    later: later || span.end < messages.length - 1,
  };
}

/** An edge that moved is no longer fixed. */
function affordable(read: Read, rows: ReaderRow[], maxCost: number): Pick<Read, "start" | "end" | "fixed"> {
  const { messages, start, end, keep, backwards, fixed } = read;
  const costs = new Map(rows.map((row) => [row.position, getDrawingCost(row)]));
  const costAt = (index: number) => costs.get(messages[index]?.position ?? -1) ?? 0;
  const extend = (from: number, to: number, budget: number) => {
    const step = to < from ? -1 : 1;
    let at = from;
    let left = budget - costAt(from);
    while (at !== to && left >= costAt(at + step)) {
      at += step;
      left -= costAt(at);
    }
    return { at, left: Math.max(0, left) };
  };
  const edges = (first: number, last: number) => ({
    start: first,
    end: last,
    fixed: { start: fixed.start && first === start, end: fixed.end && last === end },
  });
  if (keep !== undefined) {
    const after = extend(keep, end, maxCost * shareAfter);
    const before = extend(keep, start, maxCost * (1 - shareAfter) + after.left + costAt(keep));
    return edges(before.at, after.at);
  }
  if (backwards) return edges(extend(end, start, maxCost).at, end);
  return edges(start, extend(start, end, maxCost).at);
}

type CutRow = { positions: number[] };

const slack = 50;

/**
 * Moves edges so that no row is split (a call and its result, folded tools).
 *
 * @param positions ascending, including a margin beyond the edges
 * @param wanted inclusive indices; the message at `keep` must be inside
 * @param fixed edges that may not move
 * @returns inclusive indices
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

export function rowsWithin<R extends CutRow>(rows: R[], first: number, last: number): R[] | undefined {
  const inside: R[] = [];
  for (const row of rows) {
    const within = row.positions.filter((position) => position >= first && position <= last).length;
    if (within === row.positions.length) inside.push(row);
    else if (within > 0) return undefined;
  }
  return inside;
}
