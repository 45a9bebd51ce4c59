import type { Segment } from "./render";

/** A window of messages on the page; without a node it is an empty box as high as it was when it had one. */
export type Shown = Omit<Segment, "node"> & { key: number; node: React.ReactNode | null; height: number };

export type Change =
  | { type: "reset"; segment: Segment }
  | { type: "earlier"; segment: Segment | undefined }
  | { type: "later"; segment: Segment | undefined }
  | { type: "fill"; key: number; segment: Segment | undefined }
  | { type: "empty"; key: number; height: number }
  | { type: "grown" };

/** How many windows have their messages in the page at a time. */
export const maxMounted = 12;

export const firstSegments = (segment: Segment): Shown[] => [shownOf(segment)];

/** No two windows of a page begin alike. A count would not do: the server's and the browser's differ for the first one. */
const shownOf = (segment: Segment): Shown => ({ ...segment, key: segment.first, height: 0 });

/** The windows on the page, in the order of their messages, after a change. */
export function changeSegments(list: Shown[], change: Change): Shown[] {
  if (change.type === "reset") return firstSegments(change.segment);
  if (change.type === "earlier") {
    if (change.segment) return [shownOf(change.segment), ...list];
    return list.map((shown, index) => (index === 0 ? { ...shown, earlier: false } : shown));
  }
  if (change.type === "later") {
    if (change.segment) return [...list, shownOf(change.segment)];
    return list.map((shown, index) => (index === list.length - 1 ? { ...shown, later: false } : shown));
  }
  if (change.type === "grown")
    return list.map((shown, index) => (index === list.length - 1 ? { ...shown, later: true } : shown));
  return list.map((shown) => {
    if (shown.key !== change.key) return shown;
    if (change.type === "empty") return { ...shown, node: null, height: change.height };
    return { ...shown, node: change.segment?.node ?? "" };
  });
}

/** The window that covers a position, whether or not its messages are mounted. */
export const segmentAt = (list: Shown[], position: number): Shown | undefined =>
  list.find(({ first, last }) => position >= first && position <= last);

/** Which messages are loaded, counted from 1, as "412–640". */
export function loadedSpan(list: Shown[]): { from: number; to: number } {
  const [first] = list;
  const last = list.at(-1);
  return { from: (first?.before ?? 0) + 1, to: (last?.before ?? 0) + (last?.count ?? 0) };
}
