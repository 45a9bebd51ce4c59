import type { Markup, Segment } from "./render";

/** A segment on the page. Without markup it is empty: a space of the height that its messages were measured to have. */
export type PlacedSegment = Omit<Segment, "markup"> & { key: number; markup: Markup | null; height: number };

export type SegmentChange =
  | { type: "reset"; segment: Segment }
  | { type: "earlier"; segment: Segment | undefined }
  | { type: "later"; segment: Segment | undefined }
  | { type: "again"; key: number; segment: Segment | undefined }
  | { type: "fill"; key: number; segment: Segment | undefined }
  | { type: "empty"; key: number; height: number };

/** How many segments have their messages on the page at a time. */
export const maxMounted = 12;

export const firstSegments = (segment: Segment): PlacedSegment[] => [place(segment)];

/** No two segments of a page begin alike. A counter would not do: the server's and the browser's differ for the first one. */
const place = (segment: Segment): PlacedSegment => ({ ...segment, key: segment.first, height: 0 });

/** The segments on the page, in the order of their messages, after a change. */
export function changeSegments(list: PlacedSegment[], change: SegmentChange): PlacedSegment[] {
  switch (change.type) {
    case "reset":
      return firstSegments(change.segment);
    case "earlier":
      if (change.segment) return [place(change.segment), ...list];
      return list.map((placed, index) => (index === 0 ? { ...placed, earlier: false } : placed));
    case "later":
      if (change.segment) return [...list, place(change.segment)];
      return list.map((placed, index) => (index === list.length - 1 ? { ...placed, later: false } : placed));
    case "again":
      if (!change.segment) return list;
      return replace(list, change.key, { ...change.segment, before: list.at(-1)?.before ?? 0 });
    case "fill":
      return replace(list, change.key, { markup: change.segment?.markup ?? { __html: "" } });
    case "empty":
      return replace(list, change.key, { markup: null, height: change.height, handedOver: undefined });
  }
}

const replace = (list: PlacedSegment[], key: number, fields: Partial<PlacedSegment>) =>
  list.map((placed) => (placed.key === key ? { ...placed, ...fields } : placed));

/** Whether the page still shows another view than the one that is chosen: nothing of it can be arrived at or added to. */
export const isOtherView = ([first]: PlacedSegment[], talk: boolean): boolean => first?.talk !== talk;

/** The segment that covers a position, whether or not its messages are mounted. */
export const segmentAt = (list: PlacedSegment[], position: number): PlacedSegment | undefined =>
  list.find(({ first, last }) => position >= first && position <= last);

/** Which messages are loaded, counted from 1, as "412–640". */
export function loadedSpan(list: PlacedSegment[]): { from: number; to: number } {
  const [first] = list;
  const last = list.at(-1);
  return { from: (first?.before ?? 0) + 1, to: (last?.before ?? 0) + (last?.count ?? 0) };
}
