import type { ReaderRow } from "#lib/reader/message";
import { makeRows } from "#lib/reader/rows";
import { getDrawingCost } from "../messages/folding";
import { cutSegment, rowsWithin } from "./cut";
import type { Read } from "./read";

export type SegmentRows = {
  rows: ReaderRow[];
  first: number;
  last: number;
  /** Includes empty messages. */
  count: number;
  earlier: boolean;
  later: boolean;
};

/** The share of the cost for messages from the requested position on. */
const shareAfter = 0.7;

/**
 * Makes rows without the margins and within the cost. A row that must be split is rebuilt from its remaining
 * messages.
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
  const { messages, start, end, keep, backwards, again, fixed } = read;
  const costs = new Map(rows.map((row) => [row.position, getDrawingCost(row)]));
  const costAt = (index: number) => costs.get(messages[index]?.position ?? -1) ?? 0;
  /** The last affordable index from `from` towards `to`, and the remaining budget. */
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
  // A segment that is loaded again may have grown a little.
  return edges(start, extend(start, end, again ? 2 * maxCost : maxCost).at);
}
