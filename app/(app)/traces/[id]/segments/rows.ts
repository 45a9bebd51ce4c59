import type { ReaderRow } from "#lib/reader/message";
import { makeRows } from "#lib/reader/rows";
import { getDrawingCost } from "../messages/folding";
import { cutSegment, rowsWithin } from "./cut";
import type { Read } from "./read";

/** A segment as rows. */
export type SegmentRows = {
  rows: ReaderRow[];
  /** The positions of its first and last message. */
  first: number;
  last: number;
  /** How many messages it covers, empty ones included. */
  count: number;
  /** Whether there are messages before and after it. */
  earlier: boolean;
  later: boolean;
};

/** What is left of a cost for the messages after a position that was asked for, the message itself included. */
const shareAfter = 0.7;

/**
 * Makes rows of what was read, without the margins and without what would cost too much; no row is split where that can be
 * avoided. One that is split nevertheless is rebuilt from its remaining messages.
 *
 * @param talk rows that Talk leaves out cost nothing.
 * @param maxCost as `costOf` counts it; one row comes whatever it costs.
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

/** The part of what is wanted that does not cost too much. An edge that moved is not fixed any more. */
function affordable(read: Read, rows: ReaderRow[], maxCost: number): Pick<Read, "start" | "end" | "fixed"> {
  const { messages, start, end, keep, backwards, again, fixed } = read;
  const costs = new Map(rows.map((row) => [row.position, getDrawingCost(row)]));
  const costAt = (index: number) => costs.get(messages[index]?.position ?? -1) ?? 0;
  /** The last index from `from` towards `to` that is affordable, and what is left then. */
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
  // One that is loaded again was affordable when it was loaded first; it may have grown a little.
  return edges(start, extend(start, end, again ? 2 * maxCost : maxCost).at);
}
